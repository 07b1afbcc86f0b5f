import { Schema } from "effect"
import { OutputChange, PlanCheck, PlanSummary, ResourceChange } from "../../schema/records/PlanDetails.ts"
import { RunDiagnostic, SandboxLevel, ToolIdentity } from "../../schema/records/Run.ts"
import { RunLimitCode } from "../../schema/records/RunConfinement.ts"
import { BuildReference, PlanSecrets } from "./RunJob.ts"

/*
 * The result of an execution as data. An encoded outcome contains secrets in plaintext, so it is sealed before it leaves the
 * process.
 */

const SecretBytes = Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64)

/** `value` is absent if it is sensitive or unknown. */
export const PlannedOutput = Schema.Struct({
  name: Schema.String,
  sensitive: Schema.Boolean,
  unknown: Schema.Boolean,
  value: Schema.optionalKey(Schema.Json)
})
export type PlannedOutput = typeof PlannedOutput.Type

/** `envNames` are the environment variables that contained credentials. */
const evidence = {
  tool: ToolIdentity,
  sandboxLevel: SandboxLevel,
  envNames: Schema.Array(Schema.String),
  diagnostics: Schema.Array(RunDiagnostic)
}

/**
 * A plan for review. The plan file contains secrets in plaintext, so seal it.
 *
 * - `planDigest`, `providerLockDigest`: `sha256:` followed by hexadecimal digits
 * - `changeDigest`: digest of the change, keyed with the job's `changeKey`; absent if the job has no such key or the agent
 *   does not support digests
 * - `lockText`: absent if the module uses no installed provider
 * - `hasChanges`: as the tool reports it; `applyable`: true if the tool would apply the plan
 * - `build`: stored on the executing machine
 */
export const PlanOutcome = Schema.Struct({
  ...evidence,
  planFile: SecretBytes,
  secrets: PlanSecrets,
  planDigest: Schema.String,
  changeDigest: Schema.optionalKey(Schema.String),
  lockText: Schema.optionalKey(Schema.String),
  providerLockDigest: Schema.optionalKey(Schema.String),
  summary: PlanSummary,
  resourceChanges: Schema.Array(ResourceChange),
  outputChanges: Schema.Array(OutputChange),
  resourceDrift: Schema.Array(ResourceChange),
  plannedOutputs: Schema.Array(PlannedOutput),
  checks: Schema.optionalKey(Schema.Array(PlanCheck)),
  hasChanges: Schema.Boolean,
  applyable: Schema.Boolean,
  build: Schema.optionalKey(BuildReference)
})
export type PlanOutcome = typeof PlanOutcome.Type

/** `drifted`: at least one object differs from the state. */
export const DriftOutcome = Schema.Struct({
  ...evidence,
  drifted: Schema.Boolean,
  resourceDrift: Schema.Array(ResourceChange),
  lockText: Schema.optionalKey(Schema.String),
  providerLockDigest: Schema.optionalKey(Schema.String)
})
export type DriftOutcome = typeof DriftOutcome.Type

/**
 * An Output in the state. Includes sensitive values for the caller to seal; never show them.
 *
 * - `type`: the tool's type expression, such as `"string"` or `["list","string"]`
 * - `origins`: the secrets that the Output repeats although the module does not mark it as sensitive
 */
export const StateOutput = Schema.Struct({
  name: Schema.String,
  type: Schema.Json,
  value: Schema.RedactedFromValue(Schema.Json),
  sensitive: Schema.Boolean,
  origins: Schema.optional(Schema.Array(Schema.String))
})
export type StateOutput = typeof StateOutput.Type

export const ApplyExit = Schema.Literals(["succeeded", "failed", "cancelled", "killed", "timed_out"])
export type ApplyExit = typeof ApplyExit.Type

/** Reasons why the state that an apply left cannot become the Capsule's state. */
export const StateProblem = Schema.Literals(["lineage_changed", "serial_decreased", "unreadable"])
export type StateProblem = typeof StateProblem.Type

/** The newest complete state that continues the base, or, if there is none, the state that the apply left. */
const leftState = {
  state: Schema.optionalKey(SecretBytes),
  stateProblem: Schema.optionalKey(StateProblem),
  rejectedState: Schema.optionalKey(SecretBytes),
  lineage: Schema.optionalKey(Schema.String),
  serial: Schema.optionalKey(Schema.Number),
  resourceCount: Schema.optionalKey(Schema.Number)
}

/**
 * The result of an apply. Its state is imported whether or not the apply succeeded.
 *
 * - `state`: absent if the apply left no state
 * - `stateProblem`, `rejectedState`: the state that was left does not continue the base state, and a person has to examine it
 * - `changedAnything`: an operation on a resource started, or the state differs from the base
 * - `possiblyCreated`: addresses of objects whose change started but never finished, or whose creation was reported but
 *   which are missing from `state`
 * - `sandboxKilled`: the sandbox was killed, so the evidence may be incomplete
 * - `limit`: the Run limit that stopped the apply
 */
export const ApplyOutcome = Schema.Struct({
  ...evidence,
  ...leftState,
  exit: ApplyExit,
  outputs: Schema.Array(StateOutput),
  changedAnything: Schema.Boolean,
  possiblyCreated: Schema.Array(Schema.String),
  sandboxKilled: Schema.Boolean,
  limit: Schema.optionalKey(Schema.Struct({ code: RunLimitCode, message: Schema.String }))
})
export type ApplyOutcome = typeof ApplyOutcome.Type

/** The value of `id` is redacted. */
export const JournalResource = Schema.Struct({
  address: Schema.String,
  action: Schema.String,
  id: Schema.optional(Schema.String)
})
export type JournalResource = typeof JournalResource.Type

/**
 * The remains of an apply that was running when svc stopped. Present only if the tool had been started. An agent sets
 * `neverStarted` to report that the start was recorded but the tool never ran.
 */
export const UnfinishedApply = Schema.Struct({
  ...leftState,
  neverStarted: Schema.optional(Schema.Literal(true)),
  started: Schema.Array(JournalResource),
  completed: Schema.Array(JournalResource),
  possiblyCreated: Schema.Array(Schema.String),
  changedAnything: Schema.Boolean
})
export type UnfinishedApply = typeof UnfinishedApply.Type
