import { Clock, Context, Duration, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { RunnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import type { PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { RunDiagnostic, RunEvidence } from "../../../schema/records/Run.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { groundDiagnostics, uncertainGround } from "../../access/approval/UncertainGround.ts"
import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { ChangeApprovals } from "../../access/approval/ChangeApprovals.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { authorAddresses, ConsumedOutputsJson, saveChangeBasis } from "../../ledger/run/ChangeBases.ts"
import { type CarryVerdict, type ComparedChanges, CarryOver, providedMarks } from "../carry-over/CarryOver.ts"
import { authorityMoved } from "../../ledger/capsule/AuthorityColumns.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { CapsuleRow, type GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import {
  changedInputs,
  InstallConfigStore,
  type LoadedInstallConfig
} from "../../ledger/configuration/InstallConfigStore.ts"
import { operatorMoved } from "../../ledger/configuration/OperatorAuthority.ts"
import { OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { rotatedSince } from "../../inputs/connection/RotatedConnections.ts"
import { movedInputs } from "../../ledger/consumption/ConsumedOutputs.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { RunHandover } from "./RunHandover.ts"
import { type HoldLost, holdLost, type RunHold, type StopRequested } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunPreparations } from "../../ledger/run/RunPreparations.ts"
import { acceptsDrift, isSpeculative, type RunRow } from "../../ledger/run/RunRow.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { storedBuild } from "../../ledger/build/BuildColumns.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import type { CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { type PreparedPlan, preparedPlanSchema } from "./PreparationSchemas.ts"
import { endRun, failRun, supersedeRun } from "./RunEnding.ts"
import { RunPlans } from "./RunPlans.ts"
import type { JobResult } from "./RunSteps.ts"
import { differingInputs } from "../../ledger/staleness/DifferingInputs.ts"
import { reviewedOutputs } from "./OutputPublications.ts"
import { adoptedBase, takenOverWarning } from "./AdoptedState.ts"
import { providedService } from "../../base/Provided.ts"

/** The warnings of the preparation, followed by the tool's diagnostics. */
const diagnosticsOf = (
  { evidence }: Pick<PreparedPlan, "evidence">,
  found: ReadonlyArray<RunDiagnostic>
): ReadonlyArray<RunDiagnostic> => [...(evidence.diagnostics ?? []), ...found]

/** Combines the evidence of a plan's preparation and outcome for reviewers. */
export const planEvidence = (prepared: Pick<PreparedPlan, "evidence">, outcome: PlanOutcome): RunEvidence => ({
  ...prepared.evidence,
  planSummary: outcome.summary,
  resourceChanges: outcome.resourceChanges,
  outputChanges: outcome.outputChanges,
  resourceDrift: outcome.resourceDrift,
  ...(outcome.checks === undefined ? {} : { checks: outcome.checks }),
  diagnostics: diagnosticsOf(prepared, outcome.diagnostics),
  tool: outcome.tool,
  ...(outcome.providerLockDigest === undefined ? {} : { providerLockDigest: outcome.providerLockDigest })
})

/** A Capsule that consumes Outputs of another Capsule. */
type Dependant = Pick<CapsuleRow, "name" | "workspace_id">

/**
 * Warns approvers of a destroy that other Capsules consume this Capsule's Outputs. For consumers in other Workspaces, the
 * warning contains only their number.
 */
export const dependantsWarning = (
  workspaceId: WorkspaceId,
  dependants: ReadonlyArray<Dependant>
): ReadonlyArray<RunDiagnostic> => {
  if (dependants.length === 0) return []
  const own = dependants.filter(({ workspace_id }) => workspace_id === workspaceId).map(({ name }) => name)
  const others = dependants.length - own.length
  const named = [...own, ...(others === 0 ? [] : [`${others} of other Workspaces`])].join(", ")
  return [
    {
      severity: "warning",
      summary: "Other Capsules depend on this one.",
      detail: `Their next plan has no Outputs to read: ${named}.`
    }
  ]
}

/**
 * Stores a computed plan for review, or ends the Run without a plan. Reads the preparation from the database. No part of a
 * plan's outcome is stored before this step, so after a crash svc computes the plan again.
 */
export class PlanSettlement extends Context.Service<
  PlanSettlement,
  {
    /** If the computed plan was discarded, returns a message for the log. */
    readonly settle: (
      hold: RunHold,
      result: JobResult<PlanOutcome>
    ) => Effect.Effect<string | undefined, HoldLost | StopRequested>
  }
>()("svc/actors/running/execution/PlanSettlement") {
  static readonly layer = Layer.effect(
    PlanSettlement,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* CapsuleLedger
      const configs = yield* InstallConfigStore
      const connections = yield* ConnectionStore
      const deliveries = yield* Deliveries
      const ledger = yield* RunLedger
      const plans = yield* RunPlans
      const preparations = yield* RunPreparations
      const settings = yield* RunSettings
      const states = yield* StateVersions
      const operator = yield* OperatorConfigs
      const vault = yield* Vault
      const carryOver = yield* CarryOver
      const changeApprovals = yield* ChangeApprovals
      const approvals = yield* Approvals
      const audit = yield* Audit
      const lifecycle = yield* RunLifecycle
      const handover = yield* RunHandover
      const ending = { lifecycle, handover }

      const held = Effect.fnUntraced(function* (hold: RunHold) {
        const run = yield* ledger.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        const prepared = yield* preparations.load(hold, preparedPlanSchema)
        if (Option.isNone(prepared)) return yield* Effect.die(new Error(`Nothing was prepared for the Run ${run.id}`))
        return { run, prepared: prepared.value }
      })

      /**
       * Returns the reason why a computed plan must not be applied, or `undefined` if nothing that it is based on has changed.
       */
      const moved = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        { config }: LoadedInstallConfig,
        prepared: PreparedPlan
      ) {
        const policy = operatorMoved(operator, run, config, prepared.place, capsule.module_path)
        if (policy !== undefined) return policy
        const lost = yield* movedInputs(capsule, prepared.consumed)
        if (lost !== undefined) return lost
        return yield* rotatedSince(prepared.evidence.providerResolutions).pipe(
          Effect.provideService(ConnectionStore, connections)
        )
      })

      /**
       * Computes a second keyed digest of the change, with a key that never leaves this service. An agent has the first key,
       * so it could use the first digest to confirm guesses about values that it never received.
       */
      const changeDigestOf = (capsuleId: CapsuleId, { changeDigest }: PlanOutcome) =>
        changeDigest === undefined
          ? Effect.succeed(null)
          : Effect.map(vault.mac("change-digest", `${capsuleId}:${changeDigest}`), (digest) => `hmac-sha256:${digest}`)

      const dependantsOf = (run: RunRow): Effect.Effect<ReadonlyArray<Dependant>> =>
        run.type === "destroy_plan"
          ? Effect.orDie(CapsuleRow.some(sql, "id", "name", "workspace_id")`SELECT DISTINCT c.id, c.name, c.workspace_id
              FROM dependencies d JOIN capsules c ON c.id = d.consumer_capsule_id
              WHERE d.producer_capsule_id = ${run.capsule_id} AND ${sql.literal(livingCapsule("c."))} ORDER BY c.name, c.id`)
          : Effect.succeed([])

      const configOf = Effect.fnUntraced(function* (run: RunRow) {
        const config = yield* configs.load(run.install_config_id)
        return config ?? (yield* Effect.die(new Error(`The configuration of the Run ${run.id} is gone`)))
      })

      /** Combines all parts of a computed plan that reviewers see. */
      const reviewed = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        config: LoadedInstallConfig,
        prepared: PreparedPlan,
        outcome: PlanOutcome
      ) {
        const base = yield* states.find(run.base_state_version_id)
        const ground = yield* uncertainGround(capsule.id).pipe(Effect.provideService(SqlClient.SqlClient, sql))
        const warnings = [
          ...groundDiagnostics(ground),
          ...takenOverWarning(base, capsule),
          ...dependantsWarning(run.workspace_id, yield* dependantsOf(run))
        ]
        // An uploaded state has no applied configuration to compare with.
        const inputs =
          base === undefined || base.state_upload_id !== null
            ? undefined
            : yield* changedInputs(base.install_config_id, config).pipe(
                Effect.provideService(InstallConfigStore, configs)
              )
        const outputs = reviewedOutputs(outcome, base === undefined ? [] : yield* states.outputs(base.id))
        // Includes publications, because the tool reports no change if only svc publishes or withdraws an Output.
        const hasChanges =
          outcome.hasChanges || outputs.outputChanges.some(({ publication }) => publication !== undefined)
        const differing = yield* differingInputs(capsule)
        const evidence: RunEvidence = {
          ...planEvidence(prepared, outcome),
          ...outputs,
          ...adoptedBase(base),
          ...(run.purpose === acceptsDrift ? { driftedResources: outcome.resourceDrift.length } : {}),
          ...(inputs === undefined ? {} : { changedInputs: inputs }),
          ...(differing.length === 0 ? {} : { injectedInputs: differing }),
          diagnostics: [...warnings, ...diagnosticsOf(prepared, outcome.diagnostics)]
        }
        return { hasChanges, evidence }
      })

      const saveBasis = (
        run: RunRow,
        { commitAuthors, consumed, deliveries: delivered }: PreparedPlan,
        outcome: PlanOutcome
      ) =>
        saveChangeBasis({
          run_id: run.id,
          consumed_outputs: ConsumedOutputsJson.write(consumed),
          deliveries: canonicalJson(delivered),
          provided: providedMarks(outcome),
          commit_authors: commitAuthors === undefined ? null : authorAddresses(commitAuthors)
        }).pipe(Effect.provideService(SqlClient.SqlClient, sql))

      /**
       * Ends a speculative plan without storing data for an apply. Ignores changes that were made to the Capsule in the
       * meantime, because nobody applies the plan.
       */
      const conclude = Effect.fnUntraced(function* (
        hold: RunHold,
        run: RunRow,
        prepared: PreparedPlan,
        outcome: PlanOutcome
      ) {
        const capsule = yield* capsules.find(run.capsule_id)
        if (capsule === undefined || !isInService(capsule.status)) {
          return yield* supersedeRun(ending, run, "The Capsule is no longer in service.")
        }
        const { planDigest } = outcome
        yield* ledger.record(hold, {
          plan_digest: planDigest,
          change_digest: yield* changeDigestOf(capsule.id, outcome),
          compatibility_report_id: prepared.reportId
        })
        yield* saveBasis(run, prepared, outcome)
        const { evidence, hasChanges } = yield* reviewed(run, capsule, yield* configOf(run), prepared, outcome)
        yield* lifecycle.succeed(hold, { planDigest, hasChanges }, evidence)
        yield* handover.finished(run)
      })

      /** Approves a plan by carrying over approvals of the same change. Runs in the transaction that finishes the plan. */
      const approveCarried = Effect.fnUntraced(function* (
        id: RunRow["id"],
        { applies, approvals: given, carriedFrom }: Extract<CarryVerdict, { readonly kind: "carried" }>
      ) {
        const plan = yield* ledger.find(id)
        if (plan === undefined) return yield* Effect.die(new Error(`The Run ${id} is gone`))
        yield* approvals.carry(plan, given)
        yield* changeApprovals.carried(given, id)
        const { changeDigest, planDigest, runId } = carriedFrom
        yield* lifecycle.approve(plan, {
          subject: given.at(-1)?.subject,
          data: { planDigest: plan.plan_digest, carriedFromRunId: runId }
        })
        yield* audit.append({
          workspaceId: plan.workspace_id,
          actor: serviceContext.actor,
          action: "run.carry_over",
          target: { kind: "run", id },
          capsuleId: plan.capsule_id ?? undefined,
          runId: id,
          data: {
            type: plan.type,
            planDigest: plan.plan_digest,
            changeDigest,
            fromRunId: runId,
            fromPlanDigest: planDigest,
            approvers: given.map(({ subject }) => subject).join(", "),
            applies
          }
        })
        if (applies) yield* handover.carried(plan)
      })

      const park = Effect.fn("Run.planComputed")(function* (
        hold: RunHold,
        outcome: PlanOutcome,
        compared: ComparedChanges
      ) {
        const { prepared, run } = yield* held(hold)
        if (isSpeculative(run)) return yield* conclude(hold, run, prepared, outcome)
        const capsule = yield* capsules.find(run.capsule_id)
        if (capsule === undefined || authorityMoved(run, capsule)) {
          return yield* supersedeRun(ending, run, "The Capsule has changed while the plan was computed.")
        }
        const config = yield* configOf(run)
        const reason = yield* moved(run, capsule, config, prepared)
        if (reason !== undefined) return yield* supersedeRun(ending, run, reason)
        const refreshOnly = run.purpose === acceptsDrift
        const { requires } = config.config.compiled
        // Accepting drift delivers nothing new, so the deliveries of the last apply are kept.
        if (!refreshOnly) yield* deliveries.pin(run, { capsule, requires }, prepared.deliveries)
        const base = yield* states.find(run.base_state_version_id)
        // A new plan supersedes every older plan that is still pending.
        yield* ledger.supersedePlans(capsule.id, "A newer plan was computed.", run.id)
        yield* plans.save(run.workspace_id, run.id, {
          planFile: outcome.planFile,
          secrets: outcome.secrets,
          lockText: outcome.lockText ?? "",
          consumed: prepared.consumed,
          build: refreshOnly && base !== undefined ? storedBuild(base) : outcome.build
        })
        const changeDigest = yield* changeDigestOf(capsule.id, outcome)
        const expires =
          (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(settings.planLifetime))
        yield* ledger.record(hold, {
          plan_digest: outcome.planDigest,
          change_digest: changeDigest,
          compatibility_report_id: prepared.reportId,
          expires_at: new Date(expires).toISOString()
        })
        const { planDigest } = outcome
        const { evidence, hasChanges } = yield* reviewed(run, capsule, config, prepared, outcome)
        const delivered = canonicalJson(prepared.deliveries)
        const verdict = yield* carryOver.decide(
          { run, capsule, config, outcome, changeDigest, evidence, deliveries: delivered },
          compared
        )
        yield* lifecycle.waitForApproval(
          hold,
          { planDigest, hasChanges },
          {
            ...evidence,
            ...(verdict.kind === "carried" ? { carriedFrom: verdict.carriedFrom } : {}),
            ...(verdict.kind === "differs" ? { differsFrom: verdict.differsFrom } : {})
          }
        )
        if (verdict.kind === "carried") yield* approveCarried(run.id, verdict)
        // svc compares the plan again when it sees the merge.
        if (verdict.kind === "none" && verdict.awaitsMerge) yield* saveBasis(run, prepared, outcome)
        yield* handover.finished(run)
        yield* handover.planned(run)
      }, transaction(sql))

      /** Called if a consumed Interface could not be resolved. Discards the computed plan. */
      const refuse = Effect.fnUntraced(function* (
        hold: RunHold,
        outcome: PlanOutcome,
        { code, message }: { readonly code: string; readonly message: string }
      ) {
        const { prepared, run } = yield* held(hold)
        yield* failRun(ending, run, { code, message }, planEvidence(prepared, outcome))
      }, transaction(sql))

      const fail = Effect.fnUntraced(function* (hold: RunHold, { diagnostics, message, reason }: RunnerFailure) {
        const { prepared, run } = yield* held(hold)
        yield* endRun(
          ending,
          run,
          { code: reason, message },
          {
            ...prepared.evidence,
            diagnostics: diagnosticsOf(prepared, diagnostics)
          }
        )
      }, transaction(sql))

      /** Seals the plan before the transaction. */
      const sealAhead = Effect.fnUntraced(function* (hold: RunHold, outcome: PlanOutcome) {
        const run = yield* ledger.find(hold.runId)
        if (run !== undefined && !isSpeculative(run)) yield* plans.prepare(run.workspace_id, run.id, outcome)
      })

      const settle = (hold: RunHold, result: JobResult<PlanOutcome>) =>
        Result.match(result, {
          onFailure: (failure) => Effect.as(fail(hold, failure), undefined),
          onSuccess: (outcome) =>
            carryOver.prepare(hold.runId, outcome).pipe(
              Effect.tap(() => sealAhead(hold, outcome)),
              Effect.flatMap((compared) => park(hold, outcome, compared)),
              Effect.as(undefined),
              Effect.catchTag("DeliveryRefused", (reason) => Effect.as(refuse(hold, outcome, reason), reason.message))
            )
        })

      return yield* providedService(PlanSettlement, { settle })
    })
  )
}
