import type { ModuleChange } from "../../../runner/scan/ModuleChange.ts"
import type { CarryOver } from "../../../schema/records/Approval.ts"
import type { DifferenceCode } from "../../../schema/records/CarryOver.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import type { ToolIdentity } from "../../../schema/records/Run.ts"

/** The inputs of a plan. If a value is missing, it is unknown, and unknown values never count as equal. */
export interface PlanBasis {
  readonly changeDigest: string | null
  readonly installConfigId: InstallConfigId | null
  readonly epoch: number | null
  readonly stateGeneration: number | null
  readonly providerLockDigest: string | undefined
  readonly tool: ToolIdentity | undefined
  readonly profile: string | null
  readonly profileDigest: string | null
  readonly pool: string
  readonly network: string | null
  /** The operator's base configuration. */
  readonly operatorDigest: string | undefined
  /** The Connection that each provider requirement uses and the version of the Connection's values, as canonical text. */
  readonly bindings: string
  readonly deliveries: string | undefined
  /** Digest of the credentials that an agent supplied. If it is absent, the credentials cannot be compared. */
  readonly provided: ReadonlyArray<{ readonly name: string; readonly mark?: string | undefined }> | undefined
}

/** Facts that determine whether the approvals of a speculative plan's change also approve a plan of the lane. */
export interface CarryFacts {
  readonly approved: PlanBasis
  readonly planned: PlanBasis
  /** The difference between the module's files at the two commits. */
  readonly files: ModuleChange
  /** The reason why the injected Outputs or the Connections of the speculative plan are no longer current. */
  readonly movedInputs: string | undefined
  readonly movedConnections: string | undefined
  /** The current rules and the rules at the time of each approval, with the carry-over that each rule allows. */
  readonly rulesNow: string
  readonly rulesThen: ReadonlyArray<string>
  readonly allowed: ReadonlyArray<CarryOver>
  /** The reason why the approvals do not suffice for the plan of the lane; absent if they do. */
  readonly missing: string | undefined
  readonly isStale: boolean
  readonly isUncertain: boolean
  /** True if the approvals were already used for a plan that was applied or discarded. */
  readonly isUsed: boolean
}

export interface Difference {
  readonly code: DifferenceCode
  readonly message: string
}

const different = (code: DifferenceCode, message: string): Difference => ({ code, message })

const sameTool = (a: ToolIdentity | undefined, b: ToolIdentity | undefined) =>
  a !== undefined && b !== undefined && a.name === b.name && a.version === b.version

const markText = (provided: NonNullable<PlanBasis["provided"]>) =>
  JSON.stringify(provided.map(({ mark, name }) => [name, mark]).toSorted())

const sameProvided = (a: PlanBasis["provided"], b: PlanBasis["provided"]) =>
  a !== undefined &&
  b !== undefined &&
  [...a, ...b].every(({ mark }) => mark !== undefined) &&
  markText(a) === markText(b)

/**
 * Returns every reason why the approvals are not carried over. An empty result means that svc may carry them over. Plans
 * contain neither values that are unknown until the apply nor the commands of provisioners, so the files of the module graph
 * must be equal too.
 */
export const differences = (facts: CarryFacts): ReadonlyArray<Difference> => {
  const { allowed, approved, files, isStale, isUncertain, isUsed, missing, planned, rulesNow, rulesThen } = facts
  const found: Array<Difference | undefined> = [
    approved.changeDigest === null || planned.changeDigest === null
      ? different("unknown", "A plan has no digest of its change, because an agent of an earlier release made it.")
      : approved.changeDigest === planned.changeDigest
        ? undefined
        : different("change", "The plan makes another change than the one that was approved."),
    files.kind === "untouched" ? undefined : different("files", `Files of the module differ. ${files.because}.`),
    approved.installConfigId === planned.installConfigId
      ? undefined
      : different("configuration", "The configuration or an input of the Capsule was changed."),
    approved.operatorDigest === planned.operatorDigest
      ? undefined
      : different("configuration", "The operator changed the base configuration."),
    facts.movedInputs === undefined ? undefined : different("inputs", facts.movedInputs),
    approved.bindings === planned.bindings
      ? undefined
      : different("connection", "The plans use other Connections, or other values of them."),
    facts.movedConnections === undefined ? undefined : different("connection", facts.movedConnections),
    approved.epoch === planned.epoch
      ? undefined
      : different("authority", "The authority of the Capsule was replaced after the change was approved."),
    approved.stateGeneration === planned.stateGeneration
      ? undefined
      : different("state", "The state of the Capsule was changed after the speculative plan."),
    approved.providerLockDigest === planned.providerLockDigest
      ? undefined
      : different("provider_lock", "The plans use other versions of providers."),
    sameTool(approved.tool, planned.tool) ? undefined : different("tool", "Another tool made the plan."),
    approved.profile === planned.profile &&
    approved.profileDigest === planned.profileDigest &&
    approved.pool === planned.pool &&
    approved.network === planned.network
      ? undefined
      : different("profile", "The plans were made under different execution profiles, networks or pools."),
    sameProvided(approved.provided, planned.provided)
      ? undefined
      : different("agent_credentials", "Credentials of an agent differ, or cannot be compared."),
    approved.deliveries !== undefined && approved.deliveries === planned.deliveries
      ? undefined
      : different("deliveries", "The service delivers other values to the module."),
    rulesThen.every((rules) => rules === rulesNow)
      ? undefined
      : different("rule", "The approval rules were changed after the change was approved."),
    allowed.length > 0 && !allowed.includes("off")
      ? undefined
      : different("off", "The approval rules of this Capsule do not carry approvals over."),
    missing === undefined ? undefined : different("approver", missing),
    isStale
      ? different(
          "stale",
          "The base changed the same files after the branch left it, and the speculative plan undid that."
        )
      : undefined,
    isUncertain ? different("uncertain", "It is uncertain which objects exist.") : undefined,
    isUsed ? different("used", "The approvals were used for a plan that has been applied or discarded.") : undefined
  ]
  return found.filter((difference) => difference !== undefined)
}

/** Returns true if every matching rule allows svc to apply the plan that receives the approvals. */
export const appliesCarried = (allowed: ReadonlyArray<CarryOver>): boolean =>
  allowed.length > 0 && allowed.every((each) => each === "approval_and_apply")
