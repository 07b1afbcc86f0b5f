import { Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { RunControl as PlaceControl } from "../../../runner/execution/RunPlace.ts"
import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { CompatibilityReportId, InstallConfigId, type RunId, SourceId } from "../../../schema/records/Ids.ts"
import { ToolIdentity } from "../../../schema/records/Run.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { derivedId } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { endRun } from "./RunEnding.ts"
import type { RunControl } from "./RunExecution.ts"
import { RunHandover } from "./RunHandover.ts"
import { holdLost, holdOf, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { type RunError, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { RunResults } from "../../ledger/run/RunResults.ts"
import { CompatibilityCheck } from "../../ledger/source/CompatibilityCheck.ts"
import { inSteps, type JobResult } from "./RunSteps.ts"
import { makeConfigurationFit } from "./ConfigurationFit.ts"
import { InstallConfigCompilation } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { makeModuleVerdicts } from "../../ledger/configuration/ModuleVerdicts.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { type StagedReport, StagedReportJson, StagedSnapshot } from "../../ledger/source/StagedFindings.ts"

/** The parameters of a check. */
export const CheckSpec = Schema.Struct({
  sourceId: SourceId,
  snapshot: StagedSnapshot,
  /** The module's path. If it is absent, the snapshot must contain exactly one module. */
  modulePath: Schema.optionalKey(Schema.String),
  /** The configuration to compare the module with. It must belong to the Source's Workspace. */
  installConfigId: Schema.optionalKey(InstallConfigId),
  /** The Capsule's tool, if the module is checked for a Capsule. */
  tool: Schema.optionalKey(ToolIdentity.fields.name)
})
export type CheckSpec = typeof CheckSpec.Type
const decodeSpec = Schema.decodeUnknownEffect(Schema.fromJsonString(CheckSpec))
const encodeReport = Schema.encodeEffect(StagedReportJson)

/** The whole job is derived from the Run's `spec`, so the preparation stores nothing. */
interface CheckJob {
  readonly runId: RunId
  readonly spec: CheckSpec
}

const stopped: RunError = { code: "cancelled", message: "The check was stopped." }

const lineOf = ({ line, message, path, severity }: Finding): string => {
  const place = path === undefined ? "" : ` (${path}${line === undefined ? "" : `:${line}`})`
  return `${severity}: ${message}${place}`
}

/** Checks one module of a snapshot. Stores the report, or passes it to the Run's coordinator. */
export const makeCheckExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const compatibility = yield* CompatibilityCheck
  const compilation = yield* InstallConfigCompilation
  const fitted = yield* makeConfigurationFit
  const judged = yield* makeModuleVerdicts
  const store = yield* SourceStore
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const results = yield* RunResults
  const handover = yield* RunHandover
  const killPoint = yield* KillPoint

  const ending = { lifecycle, handover }

  const execute = (
    { runId, spec }: CheckJob,
    { cancelRequested }: Pick<PlaceControl, "cancelRequested">
  ): Effect.Effect<StagedReport, RunError> =>
    compatibility.moduleOf(spec.snapshot.archiveDigest, spec.modulePath).pipe(
      Effect.flatMap((modulePath) =>
        compatibility.check({
          reportId: derivedId(CompatibilityReportId, "rep", runId, "report"),
          runId,
          sourceId: spec.sourceId,
          snapshot: spec.snapshot,
          modulePath,
          tool: spec.tool
        })
      ),
      Effect.flatMap((staged) => judged(compilation.annotate(staged, spec.snapshot), spec.snapshot)),
      Effect.mapError(({ code, message }): RunError => ({ code, message })),
      Effect.raceFirst(Effect.andThen(cancelRequested, Effect.fail(stopped)))
    )

  const recorded = Effect.fnUntraced(function* (run: RunRow, spec: CheckSpec, staged: StagedReport) {
    const hold = holdOf(run)
    if (run.coordinator_kind === "install_plan") {
      yield* results.save(run.id, yield* Effect.orDie(encodeReport(staged)))
    } else {
      const compiled = yield* compilation.baseConfig(run.workspace_id, staged, spec.snapshot)
      yield* store.insertReport(run.workspace_id, compiled)
      yield* ledger.record(hold, { compatibility_report_id: staged.report.id })
    }
    const { id, status } = staged.report
    yield* lifecycle.succeed(hold, { compatibilityReportId: id, status })
    yield* handover.finished(run)
  }, transaction(sql))

  const settle = Effect.fn("Run.checked")(function* (
    hold: RunHold,
    result: JobResult<StagedReport, RunError>,
    { sink }: Pick<RunControl, "sink">
  ) {
    const run = yield* ledger.held(hold)
    if (run === undefined) return yield* holdLost(hold)
    if (Result.isFailure(result)) {
      const { failure } = result
      if (failure.code !== stopped.code) yield* sink.log("prepare", "system", failure.message)
      return yield* transaction(sql)(endRun(ending, run, failure))
    }
    const spec = yield* Effect.orDie(decodeSpec(run.spec))
    const found = result.success
    const staged = spec.installConfigId === undefined ? found : yield* fitted(found, spec.installConfigId)
    for (const finding of staged.report.findings) yield* sink.log("prepare", "system", lineOf(finding))
    yield* recorded(run, spec, staged)
  })

  return inSteps(
    {
      prepare: Effect.fnUntraced(function* (run: RunRow, { sink }: Pick<RunControl, "sink">) {
        const spec = yield* Effect.orDie(decodeSpec(run.spec))
        yield* sink.event("run.phase", { phase: "prepare" })
        return { runId: run.id, spec }
      }),
      execute,
      settle,
      refuse: (run, { code, message }) => transaction(sql)(endRun(ending, run, { code, message }))
    },
    killPoint
  )
})
