import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { pinOf } from "../../ledger/capsule/AutoUpdatePins.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { now } from "../../base/Identity.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { contentOf, PathFilters } from "../../ledger/staleness/PathFilters.ts"
import { SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { type RunId } from "../../../schema/records/Ids.ts"

/** The effect of an apply on the lane that its Capsule follows. */
export const makeAppliedLane = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* RunLedger
  const capsules = yield* CapsuleLedger
  const sources = yield* SourceStore
  const lanes = yield* SourceLanes
  const filters = yield* PathFilters

  /** The lane and commit of the plan become the tracked source. */
  const adopted = Effect.fnUntraced(function* (run: RunRow) {
    if (run.source_snapshot_id === null) return {}
    const rows = yield* SnapshotRow.some(sql, "ref", "path", "resolved_commit")`
      SELECT ref, path, resolved_commit FROM source_snapshots WHERE id = ${run.source_snapshot_id}`
    const snapshot = rows[0]
    if (snapshot === undefined) return {}
    return {
      adopted_snapshot_id: run.source_snapshot_id,
      adopted_ref: snapshot.ref,
      adopted_path: snapshot.path,
      adopted_commit: snapshot.resolved_commit,
      tracked_ref: snapshot.ref,
      tracked_path: snapshot.path
    }
  })

  /** Compares the module at the applied commit with the one at its lane's current commit; read before the transaction. */
  const prepareFilter = Effect.fnUntraced(function* (runId: RunId) {
    const run = yield* runs.find(runId)
    const capsule = yield* capsules.find(run?.capsule_id ?? null)
    const snapshot = yield* sources.findSnapshot(run?.source_snapshot_id ?? null)
    if (run?.type !== "apply" || run.install_config_id === null || snapshot === undefined) return
    if (capsule?.path_filter !== 1) return
    const newer = yield* sources.currentSnapshot(capsule.source_id, snapshot.ref, snapshot.path)
    if (newer === undefined || newer.resolved_commit === snapshot.resolved_commit) return
    const { install_config_id } = run
    yield* filters.prepare([{ ...capsule, install_config_id, adopted_snapshot_id: snapshot.id }], contentOf(newer))
  })

  /** A rollback pins the Capsule and records the lane's position. */
  const pinned = Effect.fnUntraced(function* (run: RunRow, capsule: GuardedCapsuleRow, lane: Record<string, string>) {
    const plan = yield* runs.find(run.plan_run_id)
    const stands = yield* lanes.find(capsule.source_id, {
      ref: lane["adopted_ref"] ?? "",
      path: lane["adopted_path"] ?? ""
    })
    return pinOf(run, plan, { at: yield* now, commit: stands?.resolved_commit ?? null })
  })

  // A failed comparison must not prevent an apply from being recorded; without one, the module counts as touched.
  const compared = (runId: RunId) =>
    prepareFilter(runId).pipe(
      Effect.catchCause((cause) => Effect.logError(`The commits of ${runId} could not be compared`, cause))
    )

  return { adopted, compared, pinned }
})
