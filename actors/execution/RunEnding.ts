import { Effect } from "effect"
import type { RunEvidence } from "../../schema/records/Run.ts"
import type { RunHandover } from "../run/RunHandover.ts"
import type { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"

interface Ledgers {
  readonly ledger: RunLedger["Service"]
  readonly handover: RunHandover["Service"]
}

/** Ends a running Run that changed nothing as failed; in the caller's transaction. */
export const failRun = (
  { ledger, handover }: Ledgers,
  run: RunRow,
  error: { readonly code: string; readonly message: string },
  evidence?: RunEvidence
) =>
  Effect.gen(function* () {
    yield* ledger.move(run.id, { from: ["running"], to: "failed", event: "run.failed", error, evidence })
    yield* handover.finished(run)
  })

/** Ends a running Run that was asked to stop and changed nothing; in the caller's transaction. */
export const cancelRun = ({ ledger, handover }: Ledgers, run: RunRow, evidence?: RunEvidence) =>
  Effect.gen(function* () {
    yield* ledger.move(run.id, { from: ["running"], to: "cancelled", event: "run.cancelled", evidence })
    yield* handover.finished(run)
  })
