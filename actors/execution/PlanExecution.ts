import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { PlanOutcome } from "../../runner/execution/RunOutcome.ts"
import type { RunnerFailure } from "../../runner/execution/RunnerFailure.ts"
import type { RunDiagnostic, RunEvidence } from "../../schema/records/Run.ts"
import { transaction } from "../database/Transaction.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import { ConnectionStore } from "../connection/ConnectionStore.ts"
import { rotatedSince } from "../connection/RotatedConnections.ts"
import { movedInputs } from "../consumption/ConsumedOutputs.ts"
import { KillPoint } from "../run/KillPoint.ts"
import { cancelRun, failRun } from "./RunEnding.ts"
import type { RunExecution } from "./RunExecution.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { holdOf } from "../run/RunHold.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunLifecycle } from "../run/RunLifecycle.ts"
import { RunPlans } from "./RunPlans.ts"
import type { RunRow } from "../run/RunRow.ts"
import { RunSettings } from "../run/RunSettings.ts"
import { CapsuleLedger } from "../authority/CapsuleLedger.ts"
import { recordConfinement } from "./ConfinedRun.ts"
import { OperatorConfigs } from "../configuration/OperatorConfigs.ts"
import { operatorMoved } from "../configuration/OperatorAuthority.ts"
import { RunBlocked } from "./RunBlocked.ts"
import { type PreparedRun, RunPreparation } from "./RunPreparation.ts"
import type { StateVersions } from "../state/StateVersions.ts"
import { deliverySubject, type GatheredVariables, makeRunVariables } from "./RunVariables.ts"
import { livingCapsule } from "../../schema/tables/CapsuleTables.ts"

const evidenceOf = (outcome: PlanOutcome): RunEvidence => ({
  planSummary: outcome.summary,
  resourceChanges: outcome.resourceChanges,
  outputChanges: outcome.outputChanges,
  resourceDrift: outcome.resourceDrift,
  diagnostics: outcome.diagnostics,
  tool: outcome.tool,
  ...(outcome.providerLockDigest === undefined ? {} : { providerLockDigest: outcome.providerLockDigest })
})

/** Computes a plan and parks it for review: what the approver sees is what is sealed here. */
export const makePlanExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const preparation = yield* RunPreparation
  const deliveries = yield* Deliveries
  const variablesOf = yield* makeRunVariables
  const runner = yield* ModuleRunner
  const capsules = yield* CapsuleLedger
  const connections = yield* ConnectionStore
  const ledger = yield* RunLedger
  const plans = yield* RunPlans
  const handover = yield* RunHandover
  const settings = yield* RunSettings
  const operator = yield* OperatorConfigs
  const killPoint = yield* KillPoint
  const values = yield* Effect.context<SqlClient.SqlClient | StateVersions>()
  const lifecycle = yield* RunLifecycle
  const ending = { lifecycle, handover }

  const superseded = (run: RunRow, reason: string) =>
    Effect.gen(function* () {
      yield* lifecycle.supersede(holdOf(run), reason)
      yield* handover.finished(run)
    })

  /** Who approves a destroy is told of the Capsules that read this one's Outputs; those of another Workspace are only counted. */
  const dependants = Effect.fnUntraced(function* (run: RunRow): Effect.fn.Return<ReadonlyArray<RunDiagnostic>> {
    if (run.type !== "destroy_plan") return []
    const rows = yield* Effect.orDie(sql<{
      name: string
      workspace_id: string
    }>`SELECT DISTINCT c.id, c.name, c.workspace_id
      FROM dependencies d JOIN capsules c ON c.id = d.consumer_capsule_id
      WHERE d.producer_capsule_id = ${run.capsule_id} AND ${sql.literal(livingCapsule("c."))} ORDER BY c.name, c.id`)
    if (rows.length === 0) return []
    const own = rows.filter(({ workspace_id }) => workspace_id === run.workspace_id).map(({ name }) => name)
    const others = rows.length - own.length
    const named = [...own, ...(others === 0 ? [] : [`${others} of other Workspaces`])].join(", ")
    return [
      {
        severity: "warning",
        summary: "Other Capsules depend on this one.",
        detail: `Their next plan has no Outputs to read: ${named}.`
      }
    ]
  })

  const settle = Effect.fn("Run.planComputed")(function* (
    prepared: PreparedRun,
    { consumed, planned }: GatheredVariables,
    outcome: PlanOutcome
  ) {
    const { run } = prepared
    const capsule = yield* capsules.find(prepared.capsule.id)
    const moved =
      capsule === undefined ||
      capsule.execution_authority_epoch !== run.execution_authority_epoch ||
      capsule.current_state_generation !== run.base_state_generation
    if (moved) return yield* superseded(run, "The Capsule has changed while the plan was computed.")
    const policy = operatorMoved(operator, run, prepared.config.config, prepared.place, prepared.capsule.module_path)
    if (policy !== undefined) return yield* superseded(run, policy)
    const lost = yield* Effect.provideContext(movedInputs(capsule, consumed), values)
    if (lost !== undefined) return yield* superseded(run, lost)
    const rotated = yield* rotatedSince(prepared.evidence.providerResolutions).pipe(
      Effect.provideService(ConnectionStore, connections)
    )
    if (rotated !== undefined) return yield* superseded(run, rotated)
    yield* deliveries.pin(run, deliverySubject(prepared), planned)
    // A newer plan takes the place of every older one that still waits.
    yield* ledger.supersedePlans(prepared.capsule.id, "A newer plan was computed.", run.id)
    yield* plans.save(run.workspace_id, run.id, {
      planFile: outcome.planFile,
      secrets: outcome.secrets,
      lockText: outcome.lockText ?? "",
      consumed,
      build: outcome.build
    })
    const expires =
      (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(settings.planLifetime))
    yield* ledger.record(holdOf(run), {
      plan_digest: outcome.planDigest,
      compatibility_report_id: prepared.report.id,
      expires_at: new Date(expires).toISOString()
    })
    const { hasChanges, planDigest } = outcome
    yield* lifecycle.waitForApproval(
      holdOf(run),
      { planDigest, hasChanges },
      {
        ...prepared.evidence,
        ...evidenceOf(outcome),
        diagnostics: [...(yield* dependants(run)), ...outcome.diagnostics]
      }
    )
    yield* handover.finished(run)
    yield* handover.planned(run)
  }, transaction(sql))

  /** What is consumed could not be resolved: the plan that was computed is not kept. */
  const refusedPlan = (
    run: RunRow,
    prepared: PreparedRun,
    outcome: PlanOutcome,
    reason: { code: string; message: string }
  ) =>
    transaction(sql)(
      failRun(
        ending,
        run,
        { code: reason.code, message: reason.message },
        { ...prepared.evidence, ...evidenceOf(outcome) }
      )
    )

  const execution: RunExecution = Effect.fn("Run.plan")(function* (run, control) {
    const prepared = yield* Effect.result(preparation.prepare(run))
    if (prepared._tag === "Failure") {
      if (prepared.failure._tag === "HoldLost") return yield* prepared.failure
      return yield* stopped(run, prepared.failure, control.sink.log)
    }
    const { job, capsule, config, evidence } = prepared.success
    yield* ledger.mergeEvidence(holdOf(run), evidence)
    const gathered = yield* Effect.result(variablesOf(run, prepared.success))
    if (gathered._tag === "Failure") {
      const { failure } = gathered
      const code = failure._tag === "MissingInput" ? "missing_input" : failure.code
      return yield* stopped(run, new RunBlocked({ code, message: failure.message, evidence }), control.sink.log)
    }
    const { values } = gathered.success
    const destroy = run.type === "destroy_plan"
    const build = config.config.sourceBuild
    yield* recordConfinement({ runner, ledger }, run, job.demands).pipe(
      Effect.andThen(killPoint(`${run.type}.before-runner`)),
      Effect.andThen(
        runner.plan(
          {
            ...job,
            mode: destroy ? "destroy" : "create_or_update",
            variables: values,
            ...(destroy && capsule.provider_lock !== null ? { lockText: capsule.provider_lock } : {}),
            ...(build === undefined ? {} : { sourceBuild: { ...build, network: settings.buildNetwork } })
          },
          control
        )
      ),
      Effect.tap(() => killPoint(`${run.type}.after-runner`)),
      Effect.matchEffect({
        onSuccess: (outcome) =>
          settle(prepared.success, gathered.success, outcome).pipe(
            Effect.catchTag("DeliveryRefused", (reason) =>
              Effect.andThen(
                control.sink.log("prepare", "system", reason.message),
                refusedPlan(run, prepared.success, outcome, reason)
              )
            )
          ),
        onFailure: (failure) =>
          failure._tag === "HoldLost" ? Effect.fail(failure) : failedPlan(run, failure, evidence)
      })
    )
  })

  const stopped = Effect.fnUntraced(function* (
    run: RunRow,
    reason: RunBlocked,
    log: (phase: "prepare", stream: "system", text: string) => Effect.Effect<void>
  ) {
    yield* log("prepare", "system", reason.message)
    yield* transaction(sql)(
      reason.code === "superseded"
        ? superseded(run, reason.message)
        : failRun(ending, run, { code: reason.code, message: reason.message }, reason.evidence)
    )
  })

  const failedPlan = (run: RunRow, failure: RunnerFailure, evidence: RunEvidence) => {
    const seen: RunEvidence = { ...evidence, diagnostics: failure.diagnostics }
    return transaction(sql)(
      failure.reason === "cancelled"
        ? cancelRun(ending, run, seen)
        : failRun(ending, run, { code: failure.reason, message: failure.message }, seen)
    )
  }

  return execution
})
