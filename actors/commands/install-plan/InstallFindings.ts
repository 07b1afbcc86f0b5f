import { Effect, Schema } from "effect"
import { CompatibilityReportId } from "../../../schema/records/Ids.ts"
import { derivedId } from "../../base/Identity.ts"
import { RunResults } from "../../ledger/run/RunResults.ts"
import { ModuleScanJson } from "../../ledger/source/SourceRow.ts"
import { SourceStore, toReport } from "../../ledger/source/SourceStore.ts"
import {
  type StagedReport,
  StagedReportJson,
  type StagedSnapshot,
  StagedSnapshotJson
} from "../../ledger/source/StagedFindings.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"
import type { InstallPlanRow, StoredRequest } from "./InstallPlanRow.ts"

const decodeSnapshot = Schema.decodeUnknownEffect(StagedSnapshotJson)
const decodeReport = Schema.decodeUnknownEffect(StagedReportJson)

/** The basis of the commit: staged by this plan's own Runs, or pinned by a preflight. */
export interface InstallFindings {
  readonly snapshot: StagedSnapshot
  readonly report: StagedReport
  readonly staged: boolean
  /** The report that was reviewed: the preflight's, or that of this plan's own check Run. */
  readonly reviewedReportId: CompatibilityReportId
}

const pinned = Effect.fnUntraced(function* (row: InstallPlanRow) {
  const store = yield* SourceStore
  const snapshot = yield* store.findSnapshot(row.source_snapshot_id)
  const report = yield* store.findReport(row.compatibility_report_id)
  if (snapshot === undefined || report === undefined)
    return yield* Effect.die(new Error(`Preflight of ${row.id} is gone`))
  return {
    staged: false,
    reviewedReportId: report.id ?? "",
    snapshot: stagedOf(snapshot),
    report: {
      report: toReport(report),
      moduleScan: ModuleScanJson.read(report.module_scan),
      contractDigest: report.contract_digest
    }
  } satisfies InstallFindings
})

/** The facts about the module when the Capsule is created. */
export const installFindings = Effect.fnUntraced(function* (row: InstallPlanRow, request: StoredRequest) {
  if (request.preflight !== undefined) return yield* pinned(row)
  const results = yield* RunResults
  const snapshot = yield* results.load(row.sync_run_id)
  const report = yield* results.load(row.check_run_id)
  if (snapshot === undefined || report === undefined)
    return yield* Effect.die(new Error(`Findings of ${row.id} are gone`))
  return {
    staged: true,
    reviewedReportId: derivedId(CompatibilityReportId, "rep", row.check_run_id ?? "", "report"),
    snapshot: yield* Effect.orDie(decodeSnapshot(snapshot)),
    report: yield* Effect.orDie(decodeReport(report))
  } satisfies InstallFindings
})
