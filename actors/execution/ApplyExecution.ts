import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { BuildStore } from "../../runner/execution/BuildStore.ts"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { RunVariable } from "../../runner/execution/RunJob.ts"
import type { ApplyOutcome } from "../../runner/execution/RunOutcome.ts"
import type { RunEvidence } from "../../schema/records/Run.ts"
import { HeldValues } from "../connection/HeldValues.ts"
import { transaction } from "../database/Transaction.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import { KillPoint } from "../run/KillPoint.ts"
import { cancelRun, failRun } from "./RunEnding.ts"
import type { RunExecution } from "./RunExecution.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { HoldLost, holdOf } from "../run/RunHold.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunLifecycle } from "../run/RunLifecycle.ts"
import { RunPlans } from "./RunPlans.ts"
import { toRun, type RunRow } from "../run/RunRow.ts"
import { automationRefusal } from "../workspace/Automation.ts"
import { orOnIntegrityFault } from "../vault/IntegrityFault.ts"
import { type ApplyResult, ApplySettlement } from "./ApplySettlement.ts"
import { recordConfinement } from "./ConfinedRun.ts"
import { operatorMoved } from "../configuration/OperatorAuthority.ts"
import { OperatorConfigs } from "../configuration/OperatorConfigs.ts"
import { makePostApplyChecks } from "./PostApplyChecks.ts"
import { RunInputs } from "./RunInputs.ts"
import { type PreparedRun, RunPreparation } from "./RunPreparation.ts"
import { deliverySubject } from "./RunVariables.ts"

/** Refused before the tool was started: nothing was changed. */
interface Refusal {
  readonly code: string
  readonly message: string
  readonly evidence: RunEvidence
}

const refusal = (code: string, message: string, evidence: RunEvidence): Refusal => ({ code, message, evidence })

const resultOf = (prepared: PreparedRun, lockText: string, outcome: ApplyOutcome): ApplyResult => ({
  exit: outcome.exit,
  state: outcome.state,
  stateProblem: outcome.stateProblem,
  rejectedState: outcome.rejectedState,
  lineage: outcome.lineage,
  serial: outcome.serial,
  resourceCount: outcome.resourceCount,
  outputs: outcome.outputs,
  changedAnything: outcome.changedAnything,
  possiblyCreated: outcome.possiblyCreated,
  sandboxKilled: outcome.sandboxKilled,
  error: outcome.limit,
  toolName: prepared.job.tool.name,
  providerLock: lockText === "" ? undefined : lockText,
  evidence: {
    ...prepared.evidence,
    tool: outcome.tool,
    diagnostics: outcome.diagnostics
  }
})

/** Applies exactly the reviewed plan file: what was approved is what runs, or nothing does (design, section 5). */
export const makeApplyExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const preparation = yield* RunPreparation
  const inputs = yield* RunInputs
  const deliveries = yield* Deliveries
  const settlement = yield* ApplySettlement
  const runner = yield* ModuleRunner
  const ledger = yield* RunLedger
  const plans = yield* RunPlans
  const builds = yield* BuildStore
  const held = yield* HeldValues
  const handover = yield* RunHandover
  const killPoint = yield* KillPoint
  const operator = yield* OperatorConfigs
  const postApplyChecks = yield* makePostApplyChecks
  const lifecycle = yield* RunLifecycle
  const ending = { lifecycle, handover }

  /** The reviewed plan, when everything it came from still stands. */
  const reviewed = Effect.fnUntraced(function* (run: RunRow, prepared: PreparedRun) {
    const plan = yield* ledger.find(run.plan_run_id ?? "")
    if (
      plan === undefined ||
      plan.approved_at === null ||
      plan.used_by_run_id !== run.id ||
      plan.status !== "succeeded"
    ) {
      return yield* Effect.fail(
        refusal("plan_not_usable", "The plan is not approved for this apply.", prepared.evidence)
      )
    }
    const moved = operatorMoved(operator, plan, prepared.config.config, prepared.place, prepared.capsule.module_path)
    if (moved !== undefined) return yield* Effect.fail(refusal("superseded", moved, prepared.evidence))
    const tool = toRun(plan).tool
    const { name, version } = prepared.job.tool
    if (tool?.name !== name || tool.version !== version) {
      const madeWith = tool === undefined ? "an unknown tool" : `${tool.name} ${tool.version}`
      const message = `The plan was made with ${madeWith}, and this service now runs ${name} ${version}. Plan again.`
      return yield* Effect.fail(refusal("tool_changed", message, prepared.evidence))
    }
    const saved = yield* plans.load(run.workspace_id, plan.id)
    if (saved === undefined || plan.plan_digest === null) {
      return yield* Effect.fail(refusal("plan_not_usable", "The saved plan is gone. Plan again.", prepared.evidence))
    }
    if (saved.build !== undefined && Option.isNone(yield* builds.find(saved.build))) {
      const message = "What the source build of this plan made is gone. Plan again."
      return yield* Effect.fail(refusal("plan_not_usable", message, prepared.evidence))
    }
    return { ...saved, planDigest: plan.plan_digest }
  })

  /** Nothing of what the host delivers has moved since the review. Answers it as the plan was given it. */
  const delivered = (run: RunRow, prepared: PreparedRun) =>
    deliveries
      .verify(run, deliverySubject(prepared))
      .pipe(Effect.mapError((error) => refusal(error.code, error.message, prepared.evidence)))

  /** Ephemeral inputs are not in a plan file; they are given to the apply as they were to the plan. */
  const ephemeralOf = Effect.fnUntraced(function* (prepared: PreparedRun, fromHost: ReadonlyMap<string, RunVariable>) {
    const all = prepared.variables.filter((variable) => variable.ephemeral)
    if (all.length === 0) return {}
    const hosted = all.flatMap(({ name }) => {
      const variable = fromHost.get(name)
      return variable === undefined ? [] : [[name, variable.value] as const]
    })
    const ephemeral = all.filter(({ name }) => !fromHost.has(name))
    const { values } = yield* inputs
      .variables(prepared.capsule, prepared.config, ephemeral, prepared.moduleInputDefaults)
      .pipe(Effect.mapError((error) => refusal("missing_input", error.message, prepared.evidence)))
    return Object.fromEntries([...Object.entries(values).map(([name, { value }]) => [name, value] as const), ...hosted])
  })

  /** The Run's own redactor knows what it was given. A rotation meanwhile adds what it was not. */
  const stillPublic = (run: RunRow, outputs: ApplyOutcome["outputs"]) =>
    held.renewedSince(run.id).pipe(
      Effect.flatMap((renewed) => (renewed.length === 0 ? Effect.succeed(outputs) : runner.withhold(outputs, renewed))),
      orOnIntegrityFault(() => Effect.succeed(outputs.map((output) => ({ ...output, sensitive: true }))))
    )

  /** Automation may have been paused while the Run was queued; what a person started goes on. */
  const stillAutomatic = Effect.fnUntraced(function* (run: RunRow, prepared: PreparedRun) {
    const paused = yield* Effect.provideService(automationRefusal(run.workspace_id), SqlClient.SqlClient, sql)
    if (paused !== undefined)
      return yield* Effect.fail(
        refusal("cancelled", `Nothing was applied: ${paused}. Plan again once it is resumed.`, prepared.evidence)
      )
  })

  const execution: RunExecution = Effect.fn("Run.apply")(function* (run, control) {
    const started = yield* Effect.gen(function* () {
      const prepared = yield* preparation
        .prepare(run)
        .pipe(Effect.catchTag("RunBlocked", (error) => Effect.fail(refusal(error.code, error.message, error.evidence))))
      if (run.trigger_kind === "auto_update") yield* stillAutomatic(run, prepared)
      const saved = yield* reviewed(run, prepared)
      const ephemeralVariables = yield* ephemeralOf(prepared, yield* delivered(run, prepared))
      yield* control.sink.event("run.applying", { planRunId: run.plan_run_id })
      yield* recordConfinement({ runner, ledger }, run, prepared.job.demands).pipe(
        Effect.catchTag("RunnerFailure", ({ message, reason }) =>
          Effect.fail(refusal(reason, message, prepared.evidence))
        )
      )
      yield* killPoint(`${run.type}.before-runner`)
      const outcome = yield* runner
        .apply(
          {
            ...prepared.job,
            planFile: saved.planFile,
            secrets: saved.secrets,
            planDigest: saved.planDigest,
            ...(saved.lockText === "" ? {} : { lockText: saved.lockText }),
            ...(saved.build === undefined ? {} : { build: saved.build }),
            ephemeralVariables
          },
          control
        )
        .pipe(
          Effect.mapError((failure) =>
            refusal(failure.reason, failure.message, { ...prepared.evidence, diagnostics: failure.diagnostics })
          )
        )
      yield* killPoint(`${run.type}.after-runner`)
      const result = resultOf(prepared, saved.lockText, {
        ...outcome,
        outputs: yield* stillPublic(run, outcome.outputs)
      })
      return { result, lifecycle: prepared.config.config.operator?.lifecycle }
    }).pipe(Effect.result)
    if (started._tag === "Success") {
      // Nobody could repeat what the tool did: its outcome must not be lost to a full disk.
      const { lifecycle, result } = started.success
      const isChecked = yield* control.record(settlement.settle(holdOf(run), result))
      if (!isChecked || lifecycle === undefined) return
      yield* killPoint(`${run.type}.committed`)
      const checks = yield* postApplyChecks(run.capsule_id ?? "", lifecycle, control)
      yield* control.record(settlement.conclude(holdOf(run), checks))
      return
    }
    if (started.failure instanceof HoldLost) return yield* started.failure
    const { code, message, evidence } = started.failure
    yield* control.sink.log("prepare", "system", message)
    yield* transaction(sql)(
      Effect.andThen(
        plans.drop(run.plan_run_id ?? ""),
        code === "cancelled" ? cancelRun(ending, run, evidence) : failRun(ending, run, { code, message }, evidence)
      )
    )
  })
  return execution
})
