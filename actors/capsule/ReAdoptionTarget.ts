import { Effect, Result } from "effect"
import { type ApiError, failedPrecondition } from "../../schema/errors/ApiError.ts"
import { SourceStore, toReport } from "../source/SourceStore.ts"
import { stagedOf } from "../source/StagedRows.ts"
import { InstallConfigCompilation, reviewedPins } from "./InstallConfigCompilation.ts"
import type { LoadedInstallConfig, StoredConfig } from "./InstallConfigStore.ts"

/** What a re-adopted configuration is derived from, before its values. */
export interface ReAdoptionTarget {
  readonly origin: LoadedInstallConfig["row"]["origin"]
  readonly compatibilityReportId: string | undefined
  readonly contractDigest: string
  readonly config: StoredConfig
}

/** The current record as it is, when it still says what the check of its snapshot found. */
const unchanged = Effect.fnUntraced(function* (
  current: LoadedInstallConfig
): Effect.fn.Return<ReAdoptionTarget, ApiError, SourceStore> {
  const store = yield* SourceStore
  const { compatibility_report_id, contract_digest, origin } = current.row
  const report = compatibility_report_id === null ? undefined : yield* store.findReport(compatibility_report_id)
  if (compatibility_report_id !== null && report?.contract_digest !== contract_digest) {
    return yield* failedPrecondition("The configuration does not match the compatibility report it was made from.")
  }
  return {
    origin,
    compatibilityReportId: compatibility_report_id ?? undefined,
    contractDigest: contract_digest,
    config: current.config
  }
})

/**
 * The configuration of the module as it is in the given snapshot: the current one, or the contract of the adopted revision
 * compiled anew. A reviewed source build stays as it is; nothing that nobody has reviewed comes in with a revision.
 */
export const reAdoptionTarget = Effect.fn("Capsule.reAdoptionTarget")(function* (
  current: LoadedInstallConfig,
  sourceSnapshotId: string
): Effect.fn.Return<ReAdoptionTarget, ApiError, SourceStore | InstallConfigCompilation> {
  if (current.row.source_snapshot_id === sourceSnapshotId) return yield* unchanged(current)
  const store = yield* SourceStore
  const compilation = yield* InstallConfigCompilation
  const row = yield* store.findSnapshot(sourceSnapshotId)
  const report = yield* store.newestReport(sourceSnapshotId, current.row.module_path)
  if (row === undefined || report === undefined || report.status === "unsupported") {
    return yield* failedPrecondition("sourceSnapshotId: the module has no successful compatibility check there.")
  }
  const snapshot = stagedOf(row)
  const config = compilation.storedConfig(
    { report: toReport(report), moduleScan: JSON.parse(report.module_scan), contractDigest: report.contract_digest },
    snapshot,
    reviewedPins(snapshot, report.id, report.module_path),
    { names: [], sourceBuild: current.config.sourceBuild }
  )
  if (Result.isFailure(config)) return yield* failedPrecondition(`sourceSnapshotId: ${config.failure.message}`)
  const { sourceBuild: _proposed, ...derived } = config.success
  const { sourceBuild } = current.config
  return {
    origin: derived.compiled.origin,
    compatibilityReportId: report.id,
    contractDigest: report.contract_digest,
    config: { ...derived, ...(sourceBuild === undefined ? {} : { sourceBuild }) }
  }
})
