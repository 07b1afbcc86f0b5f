import { Effect, Result } from "effect"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { CompatibilityReportId } from "../../../schema/records/Ids.ts"
import { toReport } from "../source/SourceStore.ts"
import { stagedOf } from "../source/StagedRows.ts"
import { InstallConfigCompilation, reviewedPins } from "./InstallConfigCompilation.ts"
import type { LoadedInstallConfig, StoredConfig, VariableValues } from "./InstallConfigStore.ts"
import { ModuleScanJson, type ReportRow, type SnapshotRow } from "../source/SourceRow.ts"

/** A configuration derived from a snapshot and the operator's base configuration, before people set values. */
export interface DerivedConfig {
  readonly origin: LoadedInstallConfig["row"]["origin"]
  readonly compatibilityReportId: CompatibilityReportId | undefined
  readonly contractDigest: string
  readonly config: StoredConfig
  /** The values that the operator sets. */
  readonly operatorValues: VariableValues
}

/** Returns the Interfaces that people have added to the operator's Interfaces, in a configuration without a manifest. */
const addedInterfaces = ({ compiled, operator }: StoredConfig) =>
  compiled.origin === "repository_manifest"
    ? []
    : compiled.interfaceBlueprints.filter(({ key }) => operator?.interfaceKeys.includes(key) !== true)

/**
 * Derives the configuration for the module in the given snapshot, under the operator's current base configuration. Keeps the
 * reviewed source build unless the operator's build replaces it, so that a revision never introduces an unreviewed build.
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
