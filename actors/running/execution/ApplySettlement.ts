import { Context, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { RunnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import type { ApplyOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { Lifecycle } from "../../../schema/policy/PostApplyCheck.ts"
import type { RunDiagnostic, RunEvidence } from "../../../schema/records/Run.ts"
import { CredentialsInUse } from "../../inputs/connection/CredentialsInUse.ts"
import { consumedOfPlan } from "../../ledger/consumption/ConsumedOutputs.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { InterfaceSettlement } from "../../ledger/interface/InterfaceSettlement.ts"
import { OrphanedStates, type NewOrphanedState, type ReadOrphanedState } from "../../ledger/state/OrphanedStates.ts"
import { RunCheckpoints } from "../../ledger/state/RunCheckpoints.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { type HoldLost, holdLost, holdOf, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunHandover } from "./RunHandover.ts"
import { type RunError, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunPreparations } from "../../ledger/run/RunPreparations.ts"
import { RunPlans } from "./RunPlans.ts"
import { acceptsDrift, PlanDetailsJson, type RunRow } from "../../ledger/run/RunRow.ts"
import { buildColumns, BuildColumns } from "../../ledger/build/BuildColumns.ts"
import { appliedEvidence, capsuleAfter, isNewState, refreshedCapsule, rememberedSecrets } from "./AppliedCapsule.ts"
import { lifecycleAfter, makeConclusion, type PostApplyOutcome } from "./ApplyConclusion.ts"
import { allPrivate, type ApplyResult, errorOf, resultOf } from "./ApplyResult.ts"
import { preparedApplySchema } from "./PreparationSchemas.ts"
import { asReviewed } from "./OutputPublications.ts"
import { endRun } from "./RunEnding.ts"
import type { JobResult } from "./RunSteps.ts"
import { makeStartObstacle } from "./AutomaticObstacle.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { orOnIntegrityFault } from "../../base/vault/IntegrityFault.ts"
import type { CapsuleId, RunId, StateVersionId } from "../../../schema/records/Ids.ts"
import { pinOf } from "../../ledger/capsule/AutoUpdatePins.ts"
import { now } from "../../base/Identity.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { contentOf, PathFilters } from "../../ledger/staleness/PathFilters.ts"
import { SnapshotRow } from "../../ledger/source/SourceRow.ts"

/** Returns true if the apply deploys its commit and configuration. An apply that accepts drift only changes the state. */
const deploys = ({ purpose, type }: Pick<RunRow, "purpose" | "type">) => type === "apply" && purpose !== acceptsDrift

/** Updates the lane that the Capsule follows after an apply. */
const makeAppliedLane = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* RunLedger
  const capsules = yield* CapsuleLedger
  const sources = yield* SourceStore
  const lanes = yield* SourceLanes
  const filters = yield* PathFilters

  /** Makes the lane and commit of the plan the Capsule's tracked source. */
  const adopted = Effect.fnUntraced(function* (run: RunRow) {
    if (run.source_snapshot_id === null) return {}
    const rows = yield* SnapshotRow.some(sql, "ref", "path", "resolved_commit")`
      SELECT ref, path, resolved_commit FROM source_snapshots WHERE id = ${run.source_snapshot_id}`
    const snapshot = rows[0]
    if (snapshot === undefined) return {}
    return {
      adopted_snapshot_id: run.source_snapshot_id,
      adopted_ref: snapshot.ref,
      adopted_path: snapshot.path,
      adopted_commit: snapshot.resolved_commit,
      tracked_ref: snapshot.ref,
      tracked_path: snapshot.path
    }
  })

  /**
   * Compares the module at the applied commit with the newest commit of its lane. This is slow, so it happens before the
   * transaction.
   */
  const prepareFilter = Effect.fnUntraced(function* (runId: RunId) {
    const run = yield* runs.find(runId)
    const capsule = yield* capsules.find(run?.capsule_id ?? null)
    const snapshot = yield* sources.findSnapshot(run?.source_snapshot_id ?? null)
    if (run === undefined || !deploys(run) || run.install_config_id === null || snapshot === undefined) return
    if (capsule?.path_filter !== 1) return
    const newer = yield* sources.currentSnapshot(capsule.source_id, snapshot.ref, snapshot.path)
    if (newer === undefined || newer.resolved_commit === snapshot.resolved_commit) return
    const { install_config_id } = run
    yield* filters.prepare([{ ...capsule, install_config_id, adopted_snapshot_id: snapshot.id }], contentOf(newer))
  })

  /** After a rollback, pins the Capsule and records the lane's current commit. */
  const pinned = Effect.fnUntraced(function* (run: RunRow, capsule: GuardedCapsuleRow, lane: Record<string, string>) {
    const plan = yield* runs.find(run.plan_run_id)
    const stands = yield* lanes.find(capsule.source_id, {
      ref: lane["adopted_ref"] ?? "",
      path: lane["adopted_path"] ?? ""
    })
    return pinOf(run, plan, { at: yield* now, commit: stands?.resolved_commit ?? null })
  })

  // If the comparison fails, the apply is still recorded, and the module is treated as changed.
  const compared = (runId: RunId) =>
    prepareFilter(runId).pipe(
      Effect.catchCause((cause) => Effect.logError(`The commits of ${runId} could not be compared`, cause))
    )

  return { adopted, compared, pinned }
})

/** An apply whose state is committed but that is still running until the operator's checks have finished. */
export interface CheckedApply {
  readonly capsuleId: CapsuleId
  readonly lifecycle: Lifecycle
}

/** States of an apply that are kept for a person to examine. They are read before the transaction. */
interface ReadStates {
  readonly rejected: ReadOrphanedState | undefined
  readonly saved: ReadOrphanedState | undefined
  /** The stored form of `saved`. If the stored form has changed since it was read, the transaction starts over. */
  readonly stored: string | undefined
}

/** The result of an apply, as it is stored. */
interface Judged {
  readonly result: ApplyResult
  readonly secrets: ReadonlyArray<SecretText>
  readonly withheld: ReadonlyArray<RunDiagnostic>
}

/** Records read before the transaction, and the state that the Capsule had then. */
interface Prepared extends Judged {
  readonly stateVersionId: StateVersionId | null
  readonly generation: number
  readonly states: ReadStates
}

/** Error if the agent stopped the tool because its lease was expiring or the agent received a signal. */
const unasked = {
  code: "apply_interrupted",
  message:
    "The agent stopped the tool, because it lost its lease or was asked to stop. svc imported the state that the tool had written; plan again."
}

/**
 * Commits the result of an apply in one transaction: StateVersion, Outputs, pointers, generation, status and the end of the Run
 * (design, section 2). Every readable state is committed, and marked as partial unless the apply succeeded.
 */
export class ApplySettlement extends Context.Service<
  ApplySettlement,
  {
    /** Settles the result of `ModuleRunner.apply`: commits an outcome, or ends a Run whose tool never started. */
    readonly settle: (
      hold: RunHold,
      result: JobResult<ApplyOutcome>
    ) => Effect.Effect<CheckedApply | undefined, HoldLost>
    /**
     * Commits the result and ends the Run. If the operator requires checks after this apply, commits the state and Outputs,
     * returns the checks, and leaves the Run running until `conclude`. Repeating the call changes nothing and returns the same
     * checks.
     */
    readonly commit: (hold: RunHold, result: ApplyResult) => Effect.Effect<CheckedApply | undefined, HoldLost>
    /** Ends a Run whose tool must not start. Nothing has been changed. */
    readonly refuse: (hold: RunHold, error: RunError) => Effect.Effect<void, HoldLost>
    /** Ends an apply whose state is already committed, and records the outcome of the apply's checks. */
    readonly conclude: (hold: RunHold, checks: PostApplyOutcome) => Effect.Effect<void, HoldLost>
  }
>()("svc/actors/running/execution/ApplySettlement") {
  static readonly layer = Layer.effect(
    ApplySettlement,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const runs = yield* RunLedger
      const lifecycle = yield* RunLifecycle
      const capsules = yield* CapsuleLedger
      const states = yield* StateVersions
      const checkpoints = yield* RunCheckpoints
      const leftOvers = yield* OrphanedStates
      const plans = yield* RunPlans
      const preparations = yield* RunPreparations
      const held = yield* CredentialsInUse
      const runner = yield* ModuleRunner
      const handover = yield* RunHandover
      const configs = yield* InstallConfigStore
      const staleReasons = yield* StaleReasons
      const deliveries = yield* Deliveries
      const interfaces = yield* InterfaceSettlement
      const lanes = yield* SourceLanes
      const lane = yield* makeAppliedLane
      const startObstacle = yield* makeStartObstacle

      /**
       * Activates the host's deliveries after an apply, or withdraws them after a destroy. Returns descriptions of the steps
       * that failed.
       */
      const hosted = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        stateVersionId: StateVersionId | undefined
      ): Effect.fn.Return<ReadonlyArray<RunDiagnostic>> {
        if (run.type === "destroy_apply") {
          yield* interfaces.destroyed(capsule.id)
          yield* deliveries.destroyed(capsule.id)
          return []
        }
        const config = yield* configs.load(run.install_config_id)
        if (config !== undefined && stateVersionId !== undefined) {
          yield* interfaces.applied({ runId: run.id, capsule, stateVersionId, config })
        }
        if (!deploys(run)) return []
        const problems = yield* deliveries.applied(run, capsule)
        return problems.map((detail) => ({
          severity: "warning" as const,
          summary: "The Capsule's identity was not registered.",
          detail
        }))
      })

      const ended = (
        hold: RunHold,
        run: RunRow,
        result: ApplyResult,
        evidence: RunEvidence,
        data: { readonly stateVersionId?: StateVersionId },
        isKept: boolean
      ) => {
        switch (result.exit) {
          case "succeeded":
            return lifecycle.succeedApply(hold, data, evidence)
          case "cancelled":
            if (run.cancel_requested_at === null && run.pool !== localPool)
              return lifecycle.fail(hold, result.error ?? unasked, evidence, data)
            return lifecycle.cancel(hold, evidence, result.error, data)
          default:
            return lifecycle.fail(hold, errorOf(result, isKept), evidence, data)
        }
      }

      /** Returns the secrets that the new state may contain, and whether some of them cannot be decrypted. */
      const secretsBefore = Effect.fnUntraced(function* (run: RunRow, capsule: GuardedCapsuleRow) {
        const base =
          capsule.current_state_version_id === null ? undefined : yield* states.find(capsule.current_state_version_id)
        // Records a completed apply even if a secret cannot be decrypted. In that case, every Output is private.
        const lost = orOnIntegrityFault(() => Effect.succeed("lost" as const))
        const ofPlan = yield* lost(plans.secrets(run.workspace_id, run.plan_run_id))
        const ofState = base === undefined ? [] : yield* lost(states.secrets(base))
        const secrets = rememberedSecrets(
          ofPlan === "lost" ? [] : (ofPlan?.inputs ?? []),
          ofState === "lost" ? [] : ofState
        )
        return { base, secrets, isLost: ofPlan === "lost" || ofState === "lost" }
      })

      const write = Effect.fn("Capsule.settleApply")(function* (hold: RunHold, known: Prepared) {
        const { result, secrets, states: read, withheld } = known
        const { runId } = hold
        const run = yield* runs.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        const capsule = yield* capsules.find(run.capsule_id)
        if (capsule === undefined || run.install_config_id === null)
          return yield* Effect.die(new Error(`The Capsule or configuration of Run ${runId} is gone`))
        const prepared = Option.getOrUndefined(yield* preparations.load(hold, preparedApplySchema))
        const after = deploys(run) ? yield* lifecycleAfter(configs, run, prepared) : undefined
        const checked =
          after === undefined || after.postApply.length === 0 ? undefined : { capsuleId: capsule.id, lifecycle: after }
        // The state is already committed, and the checks are in progress.
        if (run.provider_apply_succeeded !== null) return checked
        const isSame =
          capsule.current_state_version_id === known.stateVersionId &&
          capsule.current_state_generation === known.generation
        if (!isSame || (!isNewState(result) && (yield* checkpoints.stored(runId)) !== read.stored)) return "moved"
        const succeeded = result.exit === "succeeded"
        const builds = yield* BuildColumns.rows(sql)`SELECT build_digest, build_size_bytes FROM run_plans
            WHERE run_id = ${run.plan_run_id ?? ""}`
        const version =
          result.state === undefined || result.lineage === undefined || !isNewState(result)
            ? undefined
            : yield* states.insert({
                workspaceId: capsule.workspace_id,
                capsuleId: capsule.id,
                runId,
                generation: capsule.current_state_generation + 1,
                state: result.state,
                lineage: result.lineage,
                serial: result.serial ?? 0,
                resourceCount: result.resourceCount ?? 0,
                partial: !succeeded,
                sourceSnapshotId: run.source_snapshot_id ?? undefined,
                installConfigId: run.install_config_id,
                outputs: result.outputs,
                secrets,
                build: builds[0] ?? buildColumns(undefined)
              })
        const isChecked = succeeded && checked !== undefined
        const settled =
          run.purpose === acceptsDrift
            ? refreshedCapsule(capsule, result, version?.id)
            : capsuleAfter(run.type, capsule, result, prepared, version?.id)
        // Leaves the status unchanged until the checks have passed, because only then is the new deployment known to work.
        const columns = isChecked ? { ...settled, status: capsule.status, runtime_safety: "unknown" } : settled
        const tracked = succeeded && deploys(run) ? yield* lane.adopted(run) : {}
        const pin = succeeded ? yield* lane.pinned(run, capsule, tracked) : {}
        const fenced = yield* capsules.fence(capsule, { ...columns, ...tracked, ...pin })
        if (!fenced)
          return yield* Effect.die(new Error(`Capsule ${capsule.id} moved inside the transaction of its apply`))
        if (succeeded && deploys(run)) {
          const consumed =
            (yield* Effect.provideService(consumedOfPlan(run.plan_run_id), SqlClient.SqlClient, sql)) ?? []
          yield* staleReasons.applied(capsule.id, { consumed })
        }
        if (succeeded && run.type === "destroy_apply") yield* staleReasons.destroyed(capsule.id)
        yield* staleReasons.producerMoved(capsule.id)
        // The apply may have changed which lanes are in use.
        if (succeeded) yield* lanes.settleStatus(capsule.source_id)
        if (version !== undefined)
          yield* runs.supersedePlans(capsule.id, "The state has moved on.", run.plan_run_id ?? undefined)
        yield* sql`DELETE FROM run_plans WHERE run_id = ${run.plan_run_id ?? ""}`
        // Keeps a state for a person to examine. A final state replaces the state saved during the apply; if there is no
        // final state, the saved state is kept.
        const keep = (given: Pick<NewOrphanedState, "left" | "settled" | "part">) =>
          leftOvers.keep({ ...given, capsule, runId, reason: result.stateProblem, secrets, build: builds[0] })
        if (read.saved !== undefined) yield* keep({ left: read.saved, settled: undefined, part: "checkpoint" })
        yield* checkpoints.drop(runId)
        if (read.rejected !== undefined) yield* keep({ left: read.rejected, settled: version })
        yield* runs.record(hold, {
          provider_apply_succeeded: succeeded ? 1 : 0,
          ...(version === undefined ? {} : { state_version_id: version.id })
        })
        const current = version?.id ?? capsule.current_state_version_id ?? undefined
        const notes = succeeded ? yield* hosted(run, capsule, current) : []
        const evidence = appliedEvidence(prepared, result, [...withheld, ...notes])
        if (isChecked) {
          yield* runs.mergeEvidence(hold, evidence)
          return checked
        }
        const isKept = read.saved !== undefined || read.rejected !== undefined
        const data = version === undefined ? {} : { stateVersionId: version.id }
        yield* ended(hold, run, result, evidence, data, isKept)
        return undefined
      }, transaction(sql))

      const conclude = yield* makeConclusion

      /**
       * Reads the states that are kept for a person to examine: the rejected state, and the saved state of an apply that
       * left no newer state.
       */
      const readStates = Effect.fnUntraced(function* (run: RunRow, result: ApplyResult): Effect.fn.Return<ReadStates> {
        const { rejectedState } = result
        const rejected = rejectedState === undefined ? undefined : yield* leftOvers.read(rejectedState)
        const stored = isNewState(result) ? undefined : yield* checkpoints.stored(run.id)
        const saved =
          stored === undefined
            ? Option.none()
            : yield* checkpoints
                .load(run.workspace_id, run.id)
                .pipe(orOnIntegrityFault(() => Effect.succeed(Option.none())))
        return { rejected, stored, saved: Option.isNone(saved) ? undefined : yield* leftOvers.read(saved.value) }
      })

      /** Marks the Outputs that the reviewed plan did not list as public, and finds the secrets of the new state. */
      const judge = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        left: ApplyResult
      ): Effect.fn.Return<Judged> {
        const { base, isLost, secrets } = yield* secretsBefore(run, capsule)
        const judged = isLost ? { ...left, outputs: allPrivate(left.outputs) } : left
        const reviewed = yield* runs.find(run.plan_run_id)
        const { publicOutputs } = PlanDetailsJson.read(reviewed?.plan_details ?? "{}")
        const stored = base === undefined ? [] : yield* states.outputs(base.id)
        const { notes, outputs } = asReviewed(judged, publicOutputs, stored)
        return { result: { ...judged, outputs }, secrets, withheld: notes }
      })

      /**
       * Reads, decrypts and seals before the transaction, where every other writer would wait for it. All of this depends on
       * the Capsule's state; the transaction checks that the state is still the same.
       */
      const prepare = Effect.fnUntraced(function* (
        hold: RunHold,
        left: ApplyResult
      ): Effect.fn.Return<Prepared, HoldLost> {
        const run = yield* runs.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        const capsule = yield* capsules.find(run.capsule_id)
        if (capsule === undefined) return yield* Effect.die(new Error(`The Capsule of Run ${run.id} is gone`))
        const judged = yield* judge(run, capsule, left)
        const { result, secrets } = judged
        if (result.state !== undefined) {
          yield* states.prepare({
            workspaceId: capsule.workspace_id,
            capsuleId: capsule.id,
            runId: run.id,
            generation: capsule.current_state_generation + 1,
            state: result.state,
            outputs: result.outputs,
            secrets
          })
        }
        return {
          ...judged,
          stateVersionId: capsule.current_state_version_id,
          generation: capsule.current_state_generation,
          states: yield* readStates(run, left)
        }
      })

      const commit = Effect.fnUntraced(function* (
        hold: RunHold,
        left: ApplyResult
      ): Effect.fn.Return<CheckedApply | undefined, HoldLost> {
        yield* lane.compared(hold.runId)
        for (;;) {
          const written = yield* write(hold, yield* prepare(hold, left))
          if (written !== "moved") return written
        }
      })

      /**
       * The Run's redactor masks only the values that the Run received, so values that replaced them later are redacted
       * here.
       */
      const published = (runId: RunId, outputs: ApplyResult["outputs"]) =>
        held.renewedSince(runId).pipe(
          Effect.flatMap((renewed) =>
            renewed.length === 0 ? Effect.succeed(outputs) : runner.withhold(outputs, renewed)
          ),
          orOnIntegrityFault(() => Effect.succeed(allPrivate(outputs)))
        )

      const unstarted = Effect.fnUntraced(function* (
        run: RunRow,
        error: RunError,
        diagnostics: ReadonlyArray<RunDiagnostic> = []
      ) {
        const prepared = yield* preparations.load(holdOf(run), preparedApplySchema)
        yield* plans.drop(run.plan_run_id)
        yield* endRun({ lifecycle, handover }, run, error, {
          ...Option.getOrUndefined(prepared)?.evidence,
          diagnostics
        })
      })

      const notStarted = Effect.fnUntraced(function* (
        hold: RunHold,
        { diagnostics, message, reason }: RunnerFailure
      ): Effect.fn.Return<undefined, HoldLost> {
        const run = yield* runs.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        // If the start was refused, the code and the reason are in the database.
        const refused = reason === "prepare_failed" ? yield* startObstacle(run) : undefined
        const code = run.cancel_requested_at === null ? reason : "cancelled"
        yield* unstarted(run, refused ?? { code, message }, diagnostics)
      }, transaction(sql))

      const refuse = Effect.fnUntraced(function* (hold: RunHold, error: RunError) {
        const run = yield* runs.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        yield* unstarted(run, error)
      }, transaction(sql))

      const settle = (hold: RunHold, result: JobResult<ApplyOutcome>) =>
        Result.match(result, {
          onFailure: (failure) => notStarted(hold, failure),
          onSuccess: (outcome) =>
            Effect.flatMap(published(hold.runId, outcome.outputs), (outputs) =>
              commit(hold, resultOf(outcome, outputs))
            )
        })

      return ApplySettlement.of({ settle, commit, refuse, conclude })
    })
  )
}
