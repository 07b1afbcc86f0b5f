import { Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { RunControl as PlaceControl } from "../../../runner/execution/RunPlace.ts"
import { type CompatibilityReport, type Finding, needAttention } from "../../../schema/records/CompatibilityReport.ts"
import { CompatibilityReportId, InstallConfigId, type RunId, SourceId } from "../../../schema/records/Ids.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import { requirementKey } from "../../../schema/records/Provider.ts"
import { ToolIdentity } from "../../../schema/records/Run.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { derivedId } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { provided } from "../../base/Provided.ts"
import { SettingsJson } from "../../inputs/connection/ConnectionRow.ts"
import { checkTarget, deliveryTargets } from "../../inputs/delivery/DeliveredVariables.ts"
import { type InputGivers, inputSource } from "../../ledger/configuration/InputSource.ts"
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
import { InstallConfigCompilation } from "../../ledger/configuration/InstallConfigCompilation.ts"
import {
  carriedVariables,
  InstallConfigStore,
  type LoadedInstallConfig
} from "../../ledger/configuration/InstallConfigStore.ts"
import { makeModuleVerdicts } from "../../ledger/configuration/ModuleVerdicts.ts"
import { bindingsOf } from "../../ledger/configuration/StoredBindings.ts"
import { injectingDependencies } from "../../ledger/consumption/InjectingDependencies.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { type StagedReport, StagedReportJson, StagedSnapshot } from "../../ledger/source/StagedFindings.ts"
import { resolveProviders } from "./ProviderResolutions.ts"

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

type Module = Pick<CompatibilityReport, "modulePath" | "rootProviderRequirements" | "variables">

const finding = (severity: "info" | "warning", code: string, message: string): Finding => ({ severity, code, message })

/** Describes those differences between two declarations of an input that affect the input's value. */
const changesOf = (before: DeclaredVariable, after: DeclaredVariable, valueIsSet: boolean): ReadonlyArray<Finding> => {
  const { name } = before
  const found: Array<Finding> = []
  if (before.type !== after.type) {
    const message = `The input ${name} was a ${before.type} and is a ${after.type} now. Give it a value of the new type.`
    found.push(finding("warning", "configuration_input_type_changed", message))
  }
  if (valueIsSet && after.sensitive && !before.sensitive) {
    const message = `The input ${name} is sensitive now. Its current value was not secret before and is contained in earlier plans and states: consider a new value.`
    found.push(finding("warning", "configuration_input_sensitive", message))
  }
  if (after.ephemeral && !before.ephemeral) {
    const message = `The input ${name} is ephemeral now: its value is given to plan and apply and kept in neither plan nor state.`
    found.push(finding("warning", "configuration_input_ephemeral", message))
  }
  if (!after.ephemeral && before.ephemeral) {
    const message = `The input ${name} is ephemeral no longer: its value is kept in plan and state from now on.`
    found.push(finding("warning", "configuration_input_ephemeral", message))
  }
  return found
}

/**
 * Returns findings for inputs that the module declares but the configuration lacks. The findings contain only names; values
 * are not read.
 */
const inputFindings = (
  { config }: LoadedInstallConfig,
  module: Module,
  givers: InputGivers
): ReadonlyArray<Finding> => {
  const found: Array<Finding> = []
  const delivered = deliveryTargets(config.compiled.requires)
  const carried = new Map(carriedVariables(config, module.variables).map((variable) => [variable.name, variable]))
  for (const [name, type] of delivered) {
    const problem = checkTarget(name, type, carried)
    if (problem !== undefined) found.push(finding("warning", problem.code, problem.message))
  }
  const known = new Map(config.variables.map((variable) => [variable.name, variable]))
  for (const after of carried.values()) {
    if (delivered.has(after.name)) continue
    const source = inputSource(after, givers)
    if (source === "missing") {
      const message = `The required input ${after.name} has no value in the configuration, so a plan would fail. Set it with a configuration plan.`
      found.push(finding("warning", "configuration_input_missing", message))
      continue
    }
    const before = known.get(after.name)
    if (source !== "module" && before !== undefined) found.push(...changesOf(before, after, source === "value"))
  }
  for (const { name } of config.variables) {
    if (carried.has(name) || delivered.has(name)) continue
    const who = givers.dependencies.has(name) ? "A dependency fills" : "The configuration sets"
    if (who === "The configuration sets" && !givers.values.has(name)) continue
    const message = `${who} ${name}, which the module declares no longer. Its value would be left out.`
    found.push(finding("warning", "configuration_input_removed", message))
  }
  return found
}

/**
 * Compares a checked module with the configuration that the caller intends to use, and adds the findings to the report. Applies
 * the same rules as a plan. Every decision that a person must make becomes a warning, so the report is marked as needing
 * attention. An unsupported module remains unsupported with any configuration.
 */
const makeConfigurationFit = Effect.gen(function* () {
  const configs = yield* InstallConfigStore

  const findingsOf = yield* provided(
    Effect.fnUntraced(function* (loaded: LoadedInstallConfig, module: Module) {
      const { row, config } = loaded
      const { resolutions, used } = yield* resolveProviders(row.workspace_id, row.id, module.rootProviderRequirements)
      const defaults = used.map(({ row: connection }) => SettingsJson.read(connection.module_input_defaults))
      const dependencies = row.capsule_id === null ? [] : yield* injectingDependencies(row.capsule_id)
      const found: Array<Finding> = []
      if (row.module_path !== module.modulePath) {
        const message = `The configuration is one of the module ${row.module_path}, and was compared with ${module.modulePath}.`
        found.push(finding("info", "configuration_of_other_module", message))
      }
      found.push(
        ...inputFindings(loaded, module, {
          dependencies: new Set(dependencies.flatMap(({ wanted }) => wanted.map(({ to }) => to))),
          values: new Set(config.variables.filter(({ set }) => set).map(({ name }) => name)),
          connections: new Set(defaults.flatMap(Object.keys))
        })
      )
      for (const { blockedReason, provider, status } of resolutions) {
        if (status === "resolved_provider_connection") continue
        const message = `${provider}: ${blockedReason ?? "no Connection"} A plan would fail until one is bound with a configuration plan.`
        found.push(finding("warning", "configuration_provider_unbound", message))
      }
      const required = new Set(module.rootProviderRequirements.map(requirementKey))
      for (const binding of yield* bindingsOf(row.id)) {
        if (required.has(requirementKey(binding))) continue
        const place = `${binding.moduleLocalName}${binding.childAlias === undefined ? "" : `.${binding.childAlias}`}`
        const message = `The configuration binds ${place} (${binding.provider}), which the module requires no longer.`
        found.push(finding("info", "configuration_binding_unused", message))
      }
      return found
    })
  )

  return Effect.fn("Run.configurationFit")(function* (staged: StagedReport, installConfigId: InstallConfigId) {
    const { report } = staged
    if (report.status === "unsupported") return staged
    const loaded = yield* configs.load(installConfigId)
    if (loaded === undefined) return yield* Effect.die(new Error(`InstallConfig ${installConfigId} is gone`))
    const found = yield* findingsOf(loaded, report)
    const status = needAttention(found) ? ("needs_attention" as const) : report.status
    return { ...staged, report: { ...report, status, findings: [...report.findings, ...found] } }
  })
})

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
