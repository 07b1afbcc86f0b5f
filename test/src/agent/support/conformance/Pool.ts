import { Context, type Effect, type Scope } from "effect"
import type { RunnerFailure } from "../../../../../runner/execution/RunnerFailure.ts"
import type { ApplyJob, DriftJob, PlanJob } from "../../../../../runner/execution/RunJob.ts"
import type { ApplyOutcome, DriftOutcome, PlanOutcome } from "../../../../../runner/execution/RunOutcome.ts"
import type { LogStream, ReportedFact, RunPhase } from "../../../../../schema/events/RunEvent.ts"

type Unnamed<Job> = Omit<Job, "runId">

/**
 * A finished Run from the control plane's point of view: either `outcome` or `failure`, and everything reported during the
 * Run.
 */
export interface Executed<Outcome> {
  readonly outcome: Outcome | undefined
  readonly failure: RunnerFailure | undefined
  readonly events: ReadonlyArray<ReportedFact>
  readonly lines: ReadonlyArray<{ readonly phase: RunPhase; readonly stream: LogStream; readonly text: string }>
  /** Serials of the states that were saved while the tool was working. */
  readonly saved: ReadonlyArray<number>
}

/** The Run is cancelled once its log contains this string. */
export interface Request {
  readonly cancelAt?: string
}

type Executes<Job, Outcome> = (
  job: Unnamed<Job>,
  request?: Request
) => Effect.Effect<Executed<Outcome>, unknown, Scope.Scope>

/** Executes Runs in the control plane's process or in an agent. The cases work with either pool. */
export interface Pool {
  /** Stores a snapshot of these files, and returns its digest. */
  readonly keep: (files: Readonly<Record<string, string>>) => Effect.Effect<string, unknown, Scope.Scope>
  readonly plan: Executes<PlanJob, PlanOutcome>
  readonly apply: Executes<ApplyJob, ApplyOutcome>
  readonly driftCheck: Executes<DriftJob, DriftOutcome>
}

export class Pools extends Context.Service<Pools, { readonly local: Pool; readonly agent: Pool }>()(
  "svc/test/conformance/Pools"
) {}
