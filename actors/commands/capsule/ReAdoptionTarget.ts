import { Effect } from "effect"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"
import { type DerivedConfig, derivedConfig } from "../../ledger/configuration/DerivedConfig.ts"
import { InstallConfigCompilation } from "../../ledger/configuration/InstallConfigCompilation.ts"
import type { LoadedInstallConfig } from "../../ledger/configuration/InstallConfigStore.ts"
import { baseMoved } from "../../ledger/configuration/OperatorAuthority.ts"
import { OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"

/** The current record, which must still agree with the check of its snapshot. */
const checkContract = Effect.fnUntraced(function* ({ row }: LoadedInstallConfig) {
  const store = yield* SourceStore
  const report = row.compatibility_report_id === null ? undefined : yield* store.findReport(row.compatibility_report_id)
  if (row.compatibility_report_id !== null && report?.contract_digest !== row.contract_digest) {
    return yield* failedPrecondition("The configuration does not match the compatibility report it was made from.")
  }
  return report
})

/**
 * The module's configuration for the given snapshot: the current one as long as the operator's base configuration has not
 * changed, otherwise the snapshot's contract, recompiled.
 */
export const reAdoptionTarget = Effect.fn("Capsule.reAdoptionTarget")(function* (
  current: LoadedInstallConfig,
  sourceSnapshotId: SourceSnapshotId
): Effect.fn.Return<DerivedConfig, ApiError, SourceStore | InstallConfigCompilation> {
  const store = yield* SourceStore
  const operator = yield* OperatorConfigs
  const compilation = yield* InstallConfigCompilation
  const row = yield* store.findSnapshot(sourceSnapshotId)
  if (current.row.source_snapshot_id === sourceSnapshotId) {
    const report = yield* checkContract(current)
    const isMoved = row !== undefined && baseMoved(operator, current.config, row, current.row.module_path)
    if (report === undefined || row === undefined || !isMoved) {
      return {
        origin: current.row.origin,
        compatibilityReportId: report?.id,
        contractDigest: current.row.contract_digest,
        config: current.config,
        // The base configuration is the one it was compiled with, so its values are the same.
        operatorValues: row === undefined ? {} : compilation.operatorValues(stagedOf(row), current.config)
      }
    }
    return yield* derivedConfig(current, row, report)
  }
  const report = yield* store.newestReport(sourceSnapshotId, current.row.module_path)
  if (row === undefined || report === undefined || report.status === "unsupported") {
    return yield* failedPrecondition("sourceSnapshotId: the module has no successful compatibility check there.")
  }
  return yield* derivedConfig(current, row, report)
})
