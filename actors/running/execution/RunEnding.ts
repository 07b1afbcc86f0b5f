import { Effect } from "effect"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import type { RunHandover } from "./RunHandover.ts"
import { holdOf } from "../../ledger/run/RunHold.ts"
import type { RunError, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

interface Services {
  readonly lifecycle: RunLifecycle["Service"]
  readonly handover: RunHandover["Service"]
}

/** Fails a running Run that changed nothing. Runs in the caller's transaction. */
export const failRun = ({ lifecycle, handover }: Services, run: RunRow, error: RunError, evidence?: RunEvidence) =>
  Effect.gen(function* () {
    yield* lifecycle.fail(holdOf(run), error, evidence)
    yield* handover.finished(run)
  })

/** Cancels a running Run that changed nothing and that somebody asked to stop. Runs in the caller's transaction. */
export const cancelRun = ({ lifecycle, handover }: Services, run: RunRow, evidence?: RunEvidence) =>
  Effect.gen(function* () {
    yield* lifecycle.cancel(holdOf(run), evidence)
    yield* handover.finished(run)
  })

/** Supersedes a running Run that changed nothing and whose authority has changed. Runs in the caller's transaction. */
export const supersedeRun = ({ lifecycle, handover }: Services, run: RunRow, reason: string) =>
  Effect.gen(function* () {
    yield* lifecycle.supersede(holdOf(run), reason)
    yield* handover.finished(run)
  })

/** Ends a running Run that changed nothing. The Run becomes cancelled if somebody asked it to stop, and failed otherwise. */
export const endRun = (services: Services, run: RunRow, error: RunError, evidence?: RunEvidence) =>
  error.code === "cancelled" ? cancelRun(services, run, evidence) : failRun(services, run, error, evidence)
