import { Context } from "effect"
import { defaultOperatorPolicy, type OperatorPolicy } from "../../schema/manifest/OperatorPolicy.ts"

/**
 * The operator's ceilings: no proposal of a repository widens them. `policy` is what they are at this moment: a reload changes it, so
 * it is read where it takes effect.
 */
export const InstallPolicy = Context.Reference<{ readonly policy: OperatorPolicy }>(
  "svc/actors/configuration/InstallPolicy",
  { defaultValue: () => ({ policy: defaultOperatorPolicy }) }
)
