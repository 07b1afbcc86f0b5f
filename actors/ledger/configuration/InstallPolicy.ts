import { Context } from "effect"
import { defaultOperatorPolicy, type OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"

/**
 * The operator's ceilings: no repository's proposal can widen them. `policy` is read at the point of use, since a reload changes
 * it.
 */
export const InstallPolicy = Context.Reference<{ readonly policy: OperatorPolicy }>(
  "svc/actors/ledger/configuration/InstallPolicy",
  { defaultValue: () => ({ policy: defaultOperatorPolicy }) }
)
