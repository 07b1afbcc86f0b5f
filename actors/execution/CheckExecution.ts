import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CompatibilityReportId } from "../../schema/records/Ids.ts"
import { ToolIdentity } from "../../schema/records/Run.ts"
import { transaction } from "../database/Transaction.ts"
import { derivedId } from "../Identity.ts"
import { KillPoint } from "../run/KillPoint.ts"
import { cancelRun, failRun } from "./RunEnding.ts"
import type { RunExecution } from "./RunExecution.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { holdOf } from "../run/RunHold.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunLifecycle } from "../run/RunLifecycle.ts"
import { RunResults } from "../run/RunResults.ts"
import { CompatibilityCheck } from "../source/CompatibilityCheck.ts"
import { makeConfigurationFit } from "./ConfigurationFit.ts"
import { InstallConfigCompilation } from "../configuration/InstallConfigCompilation.ts"
import { makeModuleVerdicts } from "../configuration/ModuleVerdicts.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { StagedReportJson, StagedSnapshot } from "../source/StagedFindings.ts"

/** What a check Run is asked to look at. */
export const CheckSpec = Schema.Struct({
  sourceId: Schema.String,
  snapshot: StagedSnapshot,
  /** The only module of the snapshot when absent. */
  modulePath: Schema.optionalKey(Schema.String),
  /** The configuration that the module is to be compared with, of the Source's own Workspace. */
  installConfigId: Schema.optionalKey(Schema.String),
  /** The tool of the Capsule that the check is for. */
  tool: Schema.optionalKey(ToolIdentity.fields.name)
})
export type CheckSpec = typeof CheckSpec.Type
const decodeSpec = Schema.decodeUnknownEffect(Schema.fromJsonString(CheckSpec))
const encodeReport = Schema.encodeEffect(StagedReportJson)

/** Checks one module of a snapshot, and records the report or hands it to the coordinator that asked. */
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

  const execution: RunExecution = Effect.fn("Run.check")(function* (run, control) {
    const spec = yield* Effect.orDie(decodeSpec(run.spec))
    yield* control.sink.event("run.phase", { phase: "prepare" })
    yield* killPoint(`${run.type}.prepared`)
    const checked = yield* compatibility.moduleOf(spec.snapshot.archiveDigest, spec.modulePath).pipe(
      Effect.flatMap((modulePath) =>
        compatibility.check({
          reportId: derivedId(CompatibilityReportId, "rep", run.id, "report"),
          runId: run.id,
          sourceId: spec.sourceId,
          snapshot: spec.snapshot,
          modulePath,
          tool: spec.tool
        })
      ),
      Effect.flatMap((staged) => judged(compilation.annotate(staged, spec.snapshot), spec.snapshot)),
      Effect.map((staged) => ({ kind: "checked" as const, staged })),
      Effect.raceFirst(Effect.as(control.cancelRequested, { kind: "cancelled" as const })),
      Effect.catchTag("CheckImpossible", (error) =>
        Effect.succeed({ kind: "failed" as const, error: { code: error.code, message: error.message } })
      )
    )
    yield* killPoint(`${run.type}.executed`)
    if (checked.kind === "failed") {
      yield* control.sink.log("prepare", "system", checked.error.message)
      return yield* transaction(sql)(failRun({ lifecycle, handover }, run, checked.error))
    }
    if (checked.kind === "cancelled") return yield* transaction(sql)(cancelRun({ lifecycle, handover }, run))
    const staged =
      spec.installConfigId === undefined ? checked.staged : yield* fitted(checked.staged, spec.installConfigId)
    for (const finding of staged.report.findings) {
      const place =
        finding.path === undefined ? "" : ` (${finding.path}${finding.line === undefined ? "" : `:${finding.line}`})`
      yield* control.sink.log("prepare", "system", `${finding.severity}: ${finding.message}${place}`)
    }
    yield* transaction(sql)(
      Effect.gen(function* () {
        if (run.coordinator_kind === "install_plan") {
          yield* results.save(run.id, yield* Effect.orDie(encodeReport(staged)))
        } else {
          const compiled = yield* compilation.baseConfig(run.workspace_id, staged, spec.snapshot)
          yield* store.insertReport(run.workspace_id, compiled)
          yield* ledger.record(holdOf(run), { compatibility_report_id: staged.report.id })
        }
        const { id, status } = staged.report
        yield* lifecycle.succeed(holdOf(run), { compatibilityReportId: id, status })
        yield* handover.finished(run)
      })
    )
  })
  return execution
})
