import type { Redacted, Schema } from "effect"
import type {
  OutputChange,
  PlanSummary,
  ResourceChange,
  RunDiagnostic,
  SandboxLevel,
  ToolIdentity
} from "../../schema/records/Run.ts"
import type { LimitExceeded } from "../sandbox/limits/LimitExceeded.ts"
import type { BuildArchive, PlanSecrets } from "./RunJob.ts"

export interface PlannedOutput {
  readonly name: string
  readonly sensitive: boolean
  readonly unknown: boolean
  /** Absent when sensitive or unknown. */
  readonly value?: Schema.Json
}

interface Evidence {
  readonly tool: ToolIdentity
  readonly sandboxLevel: SandboxLevel
  /** Names of the environment variables that credentials were delivered by. */
  readonly envNames: ReadonlyArray<string>
  readonly diagnostics: ReadonlyArray<RunDiagnostic>
}

/**
 * A reviewable plan. The plan file holds secrets in clear text: seal it.
 *
 * - `planDigest`, `providerLockDigest`: `sha256:` and hex
 * - `lockText`: absent when the module uses no installed provider
 * - `hasChanges`: by the tool's own account; `applyable`: whether the tool would apply it
 */
export interface PlanOutcome extends Evidence {
  readonly planFile: Redacted.Redacted<Uint8Array>
  readonly secrets: PlanSecrets
  readonly planDigest: string
  readonly lockText?: string
  readonly providerLockDigest?: string
  readonly summary: PlanSummary
  readonly resourceChanges: ReadonlyArray<ResourceChange>
  readonly outputChanges: ReadonlyArray<OutputChange>
  readonly resourceDrift: ReadonlyArray<ResourceChange>
  readonly plannedOutputs: ReadonlyArray<PlannedOutput>
  readonly hasChanges: boolean
  readonly applyable: boolean
  readonly build?: BuildArchive
}

/** `drifted`: at least one object differs from the state. */
export interface DriftOutcome extends Evidence {
  readonly drifted: boolean
  readonly resourceDrift: ReadonlyArray<ResourceChange>
  readonly lockText?: string
  readonly providerLockDigest?: string
}

/** An output of the state. Sensitive values are given too, so that the caller can seal them; it must not project them. */
export interface StateOutput {
  readonly name: string
  /** The tool's type expression, e.g. `"string"` or `["list","string"]`. */
  readonly type: Schema.Json
  readonly value: Redacted.Redacted<Schema.Json>
  readonly sensitive: boolean
  /** The module does not call it sensitive, but it repeats these secrets. */
  readonly origins?: ReadonlyArray<string> | undefined
}

export type ApplyExit = "succeeded" | "failed" | "cancelled" | "killed" | "timed_out"

/** Why the state that an apply left cannot become the Capsule's state. */
export type StateProblem = "lineage_changed" | "serial_decreased" | "unreadable"

/**
 * How an apply ended. The state is imported whatever the exit is.
 *
 * - `state`: the newest whole state of the run's own lineage; absent when there is none
 * - `stateProblem` and `rejectedState`: what was left is not a continuation of the base state and must be looked at by a person
 * - `changedAnything`: an operation on a resource was started, or the state differs from the base
 * - `possiblyCreated`: addresses that were started and never reported as finished, or reported as created and missing in `state`
 * - `sandboxKilled`: ended by force, so evidence may be incomplete
 * - `limit`: the limit of the Run that ended it
 */
export interface ApplyOutcome extends Evidence {
  readonly exit: ApplyExit
  readonly state?: Redacted.Redacted<Uint8Array>
  readonly stateProblem?: StateProblem
  readonly rejectedState?: Redacted.Redacted<Uint8Array>
  readonly lineage?: string
  readonly serial?: number
  readonly resourceCount?: number
  readonly outputs: ReadonlyArray<StateOutput>
  readonly changedAnything: boolean
  readonly possiblyCreated: ReadonlyArray<string>
  readonly sandboxKilled: boolean
  readonly limit?: LimitExceeded
}

export interface JournalResource {
  readonly address: string
  readonly action: string
  /** Redacted. */
  readonly id?: string | undefined
}

/** What an apply left behind that ended with the service itself. Present only when the tool had been started. */
export interface LeftOver {
  readonly state?: Redacted.Redacted<Uint8Array>
  readonly stateProblem?: StateProblem
  readonly rejectedState?: Redacted.Redacted<Uint8Array>
  readonly lineage?: string
  readonly serial?: number
  readonly resourceCount?: number
  readonly started: ReadonlyArray<JournalResource>
  readonly completed: ReadonlyArray<JournalResource>
  readonly possiblyCreated: ReadonlyArray<string>
  readonly changedAnything: boolean
}
