import { Context } from "effect"
import {
  type BaseInstallConfig,
  defaultOperatorPolicy,
  emptyBaseConfig,
  type OperatorPolicy
} from "../../schema/manifest/OperatorPolicy.ts"

/** The operator's ceilings and own declarations: no proposal of a repository widens or overrides them. */
export const InstallPolicy = Context.Reference<{ readonly policy: OperatorPolicy; readonly base: BaseInstallConfig }>(
  "svc/actors/capsule/InstallPolicy",
  { defaultValue: () => ({ policy: defaultOperatorPolicy, base: emptyBaseConfig }) }
)
