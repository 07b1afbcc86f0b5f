import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { RecordedPurpose, RunTrigger, RunType } from "../../../schema/records/Run.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { recordAuthors } from "../../access/approval/PlanAuthors.ts"
import { rotatedSince } from "../../inputs/connection/RotatedConnections.ts"
import { movedInputsOf } from "../../ledger/consumption/ConsumedOutputs.ts"
import { now } from "../../base/Identity.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { isAllowedBySource, type PullRequestSpec } from "../../ledger/run/PullRequestPlan.ts"
import { preempt } from "../../ledger/run/RunCancels.ts"
import { type NewRun, RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { acceptsDrift, type RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { updateToRetry } from "../../running/run-group/RunGroupRow.ts"
import type { FollowSpec } from "../../ledger/source/FollowedSource.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { acceptanceRefusal } from "../../running/execution/AcceptedDrift.ts"
import { capsuleSite, checkUses, starterOf } from "../../running/execution/CapsuleConnections.ts"
import { openForRef } from "../../running/execution/ReviewedRefs.ts"
import type { RollbackChoices } from "../../ledger/capsule/AutoUpdatePins.ts"
import {
  type GuardedCapsuleRow,
  hasImportedState,
  isUnconfirmed,
  unconfirmed
} from "../../ledger/capsule/CapsuleRow.ts"
import { ConfigSuccession } from "../../ledger/configuration/ConfigSuccession.ts"
import { OperatorSuccession } from "../../ledger/configuration/OperatorSuccession.ts"
import { applyObstacle } from "../../ledger/capsule/ApplyObstacle.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import type { BackupId, CapsuleId, RunGroupId, RunId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { providedService } from "../../base/Provided.ts"

/** The Run to create for a Capsule, under the Capsule's current authority. */
export interface CapsuleRunRequest {
  readonly runId: RunId
  readonly type: Extract<RunType, "plan" | "destroy_plan" | "drift_check" | "restore">
  readonly sourceSnapshotId?: SourceSnapshotId | undefined
  readonly trigger: "user" | "webhook" | "schedule" | "auto_update" | "service"
  readonly purpose?: RecordedPurpose | undefined
  readonly rollback?: RollbackChoices | undefined
  /** For an auto-update plan, the trigger of the check that found the commit. */
  readonly look?: RunTrigger | undefined
  /** The backup to restore. */
  readonly backupId?: BackupId | undefined
  readonly createdBy?: string | undefined
  /** The personal access token of `createdBy`. The creator of the token is treated as an author of the plan. */
  readonly tokenId?: string | undefined
  readonly runGroupId?: RunGroupId | undefined
  readonly coordinator?: NewRun["coordinator"]
  /** Set for a plan of a pull request. */
  readonly pullRequest?: PullRequestSpec | undefined
}

/** The apply of an approved plan. */
export interface CapsuleApplyRequest {
  readonly runId: RunId
  readonly planRunId: RunId
  readonly createdBy: string | undefined
  /** `service` if approvals of the same change cover the plan and the rules let svc apply it. */
  readonly trigger: "user" | "auto_update" | "service"
}

/** Fields of a request that determine which Connections and inputs the Run's code may use. */
type CodeStart = Pick<CapsuleRunRequest, "createdBy" | "trigger" | "purpose" | "pullRequest">

/** Returns the type of the Run that carries out a reviewed plan. */
const applyTypeOf = (plan: RunType) =>
  plan === "plan" ? "apply" : plan === "restore" ? "restore" : ("destroy_apply" as const)

const changesCapsule = ({ plan_run_id, type }: RunRow) =>
  type === "apply" || type === "destroy_apply" || (type === "restore" && plan_run_id !== null)

/** Creates the Runs of a Capsule, in the caller's transaction. */
export class CapsuleRuns extends Context.Service<
  CapsuleRuns,
  {
    readonly create: (capsule: GuardedCapsuleRow, request: CapsuleRunRequest) => Effect.Effect<void, ApiError>
    readonly createApply: (capsule: GuardedCapsuleRow, request: CapsuleApplyRequest) => Effect.Effect<void, ApiError>
    /** Returns the snapshot for an ordinary plan: the newest snapshot of the tracked lane (specification, Sources). */
    readonly trackedSnapshot: (capsule: GuardedCapsuleRow) => Effect.Effect<string, ApiError>
  }
>()("svc/actors/commands/capsule/CapsuleRuns") {
  static readonly layer = Layer.effect(
    CapsuleRuns,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const queue = yield* RunQueue
      const admission = yield* RunAdmission
      const lifecycle = yield* RunLifecycle
      const approvals = yield* Approvals
      const store = yield* SourceStore
      const configs = yield* InstallConfigStore
      const operator = yield* OperatorSuccession
      const succession = yield* ConfigSuccession
      const states = yield* StateVersions

      /** Returns the person who starts a Run, and the code that the Run executes. */
      const startOf = Effect.fnUntraced(function* (
        capsule: GuardedCapsuleRow,
        request: CodeStart,
        snapshotId: SourceSnapshotId | null
      ) {
        const snapshot = yield* store.findSnapshot(snapshotId)
        if (snapshot === undefined) return undefined
        const source = yield* store.find(capsule.source_id)
        const { createdBy = null, pullRequest, purpose = null, trigger } = request
        const starter = starterOf({ created_by: createdBy, purpose, trigger_kind: trigger }, capsule)
        const site = yield* capsuleSite(capsule, source, snapshot)
        return { starter, source, site: { ...site, isAllowedBySource: isAllowedBySource(pullRequest, source) } }
      })

      /** Checks that the person may use every Connection of the configuration for this module at this ref. */
      const mayUse = Effect.fnUntraced(function* (
        capsule: GuardedCapsuleRow,
        request: CodeStart,
        snapshotId: SourceSnapshotId | null
      ) {
        const bound = yield* configs.bindings(capsule.install_config_id)
        const start = bound.length === 0 ? undefined : yield* startOf(capsule, request, snapshotId)
        if (start === undefined) return
        const ids = bound.map(({ connection_id }) => connection_id)
        yield* checkUses(ids, start.starter, start.site)
      })

      /**
       * Checks that the person may open the Run's private data for this ref. An apply needs no check, because people have
       * already approved what it does.
       */
      const mayOpen = Effect.fnUntraced(function* (
        capsule: GuardedCapsuleRow,
        request: CapsuleRunRequest,
        snapshotId: SourceSnapshotId | null
      ) {
        const start = yield* startOf(capsule, request, snapshotId)
        if (start === undefined) return
        const isInstall = request.coordinator?.kind === "install_plan"
        yield* openForRef({ ...start, capsule, configId: capsule.install_config_id, isInstall })
      })

      const alive = (capsule: GuardedCapsuleRow) =>
        isInService(capsule.status)
          ? Effect.void
          : Effect.fail(failedPrecondition(isUnconfirmed(capsule) ? unconfirmed : `The Capsule is ${capsule.status}.`))

      const trackedSnapshot = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
        const newest = yield* store.currentSnapshot(capsule.source_id, capsule.tracked_ref, capsule.tracked_path)
        return newest === undefined
          ? yield* failedPrecondition("The Source has no snapshot of this Capsule's ref and path yet. Sync it first.")
          : newest.id
      })

      const snapshotFor = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, request: CapsuleRunRequest) {
        if (request.sourceSnapshotId !== undefined) return request.sourceSnapshotId
        if (request.purpose === "reconcile") {
          return (
            capsule.adopted_snapshot_id ??
            (yield* failedPrecondition("The Capsule was never applied, so there is nothing to put back. Plan it."))
          )
        }
        if (request.type === "plan" && request.purpose !== acceptsDrift) return yield* trackedSnapshot(capsule)
        // Destroy plans, drift checks and plans that accept drift use the deployed revision.
        return capsule.adopted_snapshot_id ?? (yield* trackedSnapshot(capsule))
      })

      /** Stops drift checks that would delay the new Run. */
      const yieldDriftChecks = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
        for (const run of yield* ledger.openExclusive(capsuleId)) {
          if (run.type !== "drift_check" || run.status !== "running" || run.cancel_requested_at !== null) continue
          yield* preempt(run.id)
        }
      })

      const groupOf = (capsule: GuardedCapsuleRow, request: CapsuleRunRequest) =>
        request.type === "plan" &&
        request.trigger === "user" &&
        request.purpose !== acceptsDrift &&
        request.purpose !== "speculative"
          ? Effect.provideService(updateToRetry(capsule.id), SqlClient.SqlClient, sql)
          : Effect.undefined

      const create = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, request: CapsuleRunRequest) {
        yield* alive(capsule)
        const { purpose, trigger, type } = request
        const isReviewed = type !== "drift_check" && purpose !== "speculative"
        if (request.coordinator === undefined || request.coordinator.kind === "pull_request") {
          yield* admission.admit({ workspaceId: capsule.workspace_id, type, trigger, purpose })
        }
        yield* admission.place(type, capsule.install_config_id)
        if ((type !== "plan" || request.purpose === acceptsDrift) && hasImportedState(capsule)) {
          return yield* failedPrecondition(
            "The Capsule was imported, and its state was not compared with the infrastructure yet. Plan it first, and apply the plan."
          )
        }
        if (request.type === "drift_check" && capsule.current_state_version_id === null) {
          return yield* failedPrecondition("The Capsule was never applied, so there is nothing to compare.")
        }
        if (request.purpose === acceptsDrift) {
          const refusal = acceptanceRefusal(capsule, yield* states.find(capsule.current_state_version_id))
          if (refusal !== undefined) return yield* failedPrecondition(refusal)
        }
        // A restore has no snapshot, because it executes no module.
        const snapshotId = type === "restore" ? undefined : yield* snapshotFor(capsule, request)
        const snapshot = yield* store.findSnapshot(snapshotId ?? null)
        if (type === "restore") yield* succession.idle(capsule)
        // If an automatic Run is blocked, it is created nevertheless and records the reason, because there is no caller to
        // return the error to.
        if (request.trigger !== "auto_update" && request.trigger !== "schedule") {
          yield* mayUse(capsule, request, snapshotId ?? null)
          yield* mayOpen(capsule, request, snapshotId ?? null)
        }
        if (isReviewed) yield* yieldDriftChecks(capsule.id)
        yield* ledger.insert({
          id: request.runId,
          workspaceId: capsule.workspace_id,
          type: request.type,
          capsuleId: capsule.id,
          sourceId: capsule.source_id,
          runGroupId: request.runGroupId ?? (yield* groupOf(capsule, request)),
          coordinator: request.coordinator,
          sourceSnapshotId: snapshotId,
          resolvedCommit: snapshot?.resolved_commit,
          installConfigId: capsule.install_config_id,
          executionAuthorityEpoch: capsule.execution_authority_epoch,
          baseStateGeneration: capsule.current_state_generation,
          baseStateVersionId: capsule.current_state_version_id ?? undefined,
          requiresApproval: isReviewed,
          createdBy: request.createdBy,
          trigger: request.trigger,
          purpose,
          spec: {
            ...(request.look === undefined ? {} : ({ look: request.look } satisfies typeof FollowSpec.Type)),
            ...(request.rollback === undefined ? {} : { rollback: request.rollback }),
            ...(request.backupId === undefined ? {} : { backupId: request.backupId }),
            ...request.pullRequest
          }
        })
        if (type !== "drift_check") {
          const { runId, tokenId } = request
          // The person whose authority an automatic plan uses is not treated as an author of the plan.
          const isAuthored = purpose !== "speculative" || trigger === "user"
          const createdBy = isAuthored ? request.createdBy : undefined
          yield* recordAuthors(runId, { createdBy, tokenId, trigger }, capsule)
        }
        yield* sql.afterCommit(queue.wake)
      })

      const conflict = (message: string) => new ApiError({ code: "run_conflict", message })

      const createApply = Effect.fn("CapsuleRuns.createApply")(function* (
        capsule: GuardedCapsuleRow,
        request: CapsuleApplyRequest
      ) {
        const plan = yield* ledger.find(request.planRunId)
        if (plan === undefined) return yield* failedPrecondition("Only a plan, destroy plan or restore can be applied.")
        const obstacle = applyObstacle(plan, capsule, yield* now)
        if (obstacle !== undefined) return yield* obstacle
        yield* approvals.require(plan)
        const policy = yield* operator.planMoved(capsule, plan)
        if (policy !== undefined) return yield* new ApiError({ code: "guard_conflict", message: policy })
        const type = applyTypeOf(plan.type)
        if (type !== "restore") yield* admission.placeApply(plan.pool)
        if (request.trigger === "user") {
          yield* admission.admit({ workspaceId: capsule.workspace_id, type, trigger: request.trigger })
        }
        const lost = yield* movedInputsOf(capsule, plan.id)
        if (lost !== undefined) return yield* new ApiError({ code: "guard_conflict", message: lost })
        const projected = toRun(plan)
        const rotated = yield* rotatedSince(projected.providerResolutions)
        if (rotated !== undefined) return yield* new ApiError({ code: "guard_conflict", message: rotated })
        yield* mayUse(capsule, request, plan.source_snapshot_id)
        const open = yield* ledger.openExclusive(capsule.id)
        if (open.some((run) => changesCapsule(run))) {
          return yield* conflict("Another apply of this Capsule is queued or running.")
        }
        if (type === "restore") yield* succession.idle(capsule)
        yield* yieldDriftChecks(capsule.id)
        yield* ledger.insert({
          id: request.runId,
          workspaceId: capsule.workspace_id,
          type,
          capsuleId: capsule.id,
          sourceId: capsule.source_id,
          planRunId: plan.id,
          runGroupId: plan.run_group_id ?? undefined,
          sourceSnapshotId: plan.source_snapshot_id ?? undefined,
          resolvedCommit: plan.resolved_commit ?? undefined,
          compatibilityReportId: plan.compatibility_report_id ?? undefined,
          installConfigId: capsule.install_config_id,
          executionAuthorityEpoch: capsule.execution_authority_epoch,
          baseStateGeneration: capsule.current_state_generation,
          baseStateVersionId: capsule.current_state_version_id ?? undefined,
          planDigest: plan.plan_digest ?? undefined,
          createdBy: request.createdBy,
          trigger: request.trigger,
          purpose: projected.purpose,
          spec: {},
          evidence:
            projected.restore !== undefined
              ? { restore: projected.restore }
              : projected.planSummary === undefined
                ? {}
                : {
                    planSummary: projected.planSummary,
                    ...(projected.driftedResources === undefined
                      ? {}
                      : { driftedResources: projected.driftedResources })
                  }
        })
        if (!(yield* lifecycle.usePlan(plan.id, request.runId))) {
          return yield* conflict("This plan has been applied already.")
        }
        yield* sql.afterCommit(queue.wake)
      })

      return yield* providedService(CapsuleRuns, { create, createApply, trackedSnapshot })
    })
  )
}
