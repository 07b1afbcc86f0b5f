import { Effect, Result } from "effect"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { CompatibilityReportId } from "../../../schema/records/Ids.ts"
import { toReport } from "../source/SourceStore.ts"
import { stagedOf } from "../source/StagedRows.ts"
import { InstallConfigCompilation, reviewedPins } from "./InstallConfigCompilation.ts"
import type { LoadedInstallConfig, StoredConfig, VariableValues } from "./InstallConfigStore.ts"
import { ModuleScanJson, type ReportRow, type SnapshotRow } from "../source/SourceRow.ts"

/** The basis of a derived configuration, before people's values. */
export interface DerivedConfig {
  readonly origin: LoadedInstallConfig["row"]["origin"]
  readonly compatibilityReportId: CompatibilityReportId | undefined
  readonly contractDigest: string
  readonly config: StoredConfig
  /** The operator's values in the derived configuration. */
  readonly operatorValues: VariableValues
}

/** The Interfaces that people have added to a configuration without a manifest, in addition to the operator's. */
const addedInterfaces = ({ compiled, operator }: StoredConfig) =>
  compiled.origin === "repository_manifest"
    ? []
    : compiled.interfaceBlueprints.filter(({ key }) => operator?.interfaceKeys.includes(key) !== true)

/**
 * The configuration of the module in the given snapshot, under the operator's current base configuration. A reviewed source build
 * is kept unless the operator's build replaces it; a revision introduces nothing unreviewed.
 */
export const derivedConfig = Effect.fn("Capsule.derivedConfig")(function* (
  current: LoadedInstallConfig,
  row: SnapshotRow,
  report: ReportRow
): Effect.fn.Return<DerivedConfig, ApiError, InstallConfigCompilation> {
  const compilation = yield* InstallConfigCompilation
  const snapshot = stagedOf(row)
  const reviewedBuild =
    current.config.compiled.sourceBuild?.origin === "operator" ? undefined : current.config.sourceBuild
  const compiled = compilation.storedConfig(
    {
      report: toReport(report),
      moduleScan: ModuleScanJson.read(report.module_scan),
      contractDigest: report.contract_digest
    },
    snapshot,
    reviewedPins(snapshot, report.id, report.module_path),
    { names: [], sourceBuild: reviewedBuild }
  )
  if (Result.isFailure(compiled)) return yield* failedPrecondition(compiled.failure.message)
  const { sourceBuild: proposed, ...derived } = compiled.success
  const sourceBuild = derived.compiled.sourceBuild?.origin === "operator" ? proposed : reviewedBuild
  const known = new Set(derived.compiled.interfaceBlueprints.map(({ key }) => key))
  const added =
    derived.compiled.origin === "repository_manifest"
      ? []
      : addedInterfaces(current.config).filter(({ key }) => !known.has(key))
  const config: StoredConfig = {
    ...derived,
    compiled: { ...derived.compiled, interfaceBlueprints: [...derived.compiled.interfaceBlueprints, ...added] },
    ...(sourceBuild === undefined ? {} : { sourceBuild })
  }
  return {
    origin: derived.compiled.origin,
    compatibilityReportId: report.id,
    contractDigest: report.contract_digest,
    config,
    operatorValues: compilation.operatorValues(snapshot, config)
  }
})
