import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { ImportConfirmationRequest } from "../api/BackupImportsApi.ts"
import { CapsuleReleased, ReleaseRequest } from "../api/CapsuleReleased.ts"
import { ConfigurationPlanRequest, ReAdoptionRequest } from "../api/ConfigurationRequests.ts"
import { AdoptionRequest, OrphanedStateAdopted } from "../api/OrphanedStateAdoption.ts"
import { RollbackPlanRequest } from "../api/RunsApi.ts"
import { ApiError } from "../errors/ApiError.ts"
import { Capsule, CapsuleChange } from "../records/Capsule.ts"
import {
  BackupId,
  InstallConfigId,
  OrphanedStateId,
  PullRequestId,
  RunGroupId,
  RunId,
  SourceSnapshotId,
  StateVersionId,
  Subject,
  CapsuleId
} from "../records/Ids.ts"
import { OrphanedState } from "../records/OrphanedState.ts"
import { Run } from "../records/Run.ts"
import { CommandContext, commandsOf, IdempotentRequest, replayable } from "./Command.ts"

const command = { context: CommandContext }
const repeatable = { ...command, idempotency: Schema.optional(IdempotentRequest) }

export const ConfigurationPlanned = Schema.Struct({
  targetInstallConfigId: InstallConfigId,
  planRunId: RunId,
  run: Run
})

export const ReAdopted = Schema.Struct({
  capsule: Capsule,
  previousInstallConfigId: InstallConfigId,
  previousInstallConfigDigest: Schema.String,
  targetInstallConfigId: InstallConfigId,
  targetInstallConfigDigest: Schema.String,
  sourceSnapshotId: SourceSnapshotId
})

/** Commands for one Capsule. */
export const CapsuleCommands = commandsOf(
  "Capsule",
  CapsuleId,
  Rpc.make("Plan", {
    payload: {
      ...repeatable,
      groupId: Schema.optional(RunGroupId),
      /** True for plans in later waves of a group, because no person has just requested them. */
      automatic: Schema.optional(Schema.Boolean),
      /** True for a plan that accepts drift into the state, at the deployed revision. Such a plan changes no objects. */
      refreshOnly: Schema.optional(Schema.Boolean)
    },
    success: replayable(Run),
    error: ApiError
  }),
  /**
   * Plans the head of a pull request speculatively, once per pull request, commit and `attempt`. Supersedes unfinished plans
   * of the pull request's other commits. Without a person in the context, the rules for refs and Connections alone determine
   * which Connections the plan may use.
   */
  Rpc.make("PlanSpeculatively", {
    payload: {
      ...command,
      pullRequestId: PullRequestId,
      sourceSnapshotId: SourceSnapshotId,
      /** True if the head is in the Source's own repository and the Source's rule `own_branches` allows the plan. */
      ofOwnBranch: Schema.optional(Schema.Boolean),
      /**
       * The person who set the rule. If no person started the plan, this person's role determines which Connections it can
       * use.
       */
      by: Schema.optional(Subject),
      /** Increment this to plan the same commit again. */
      attempt: Schema.optional(Schema.Int)
    },
    success: Run,
    error: ApiError
  }),
  /** Cancels every unfinished speculative plan of a pull request that was closed or may no longer be planned. */
  Rpc.make("CancelSpeculative", {
    payload: { ...command, pullRequestId: PullRequestId, reason: Schema.String },
    error: ApiError
  }),
  /** Plans the deployed revision again, to undo drift. */
  Rpc.make("ReconcilePlan", { payload: repeatable, success: replayable(Run), error: ApiError }),
  Rpc.make("DestroyPlan", { payload: repeatable, success: replayable(Run), error: ApiError }),
  Rpc.make("RollbackPlan", {
    payload: { ...command, stateVersionId: StateVersionId, request: RollbackPlanRequest },
    success: Run,
    error: ApiError
  }),
  Rpc.make("RestorePlan", {
    payload: { ...repeatable, backupId: BackupId },
    success: replayable(Run),
    error: ApiError
  }),
  Rpc.make("DriftCheck", {
    payload: {
      ...command,
      groupId: Schema.optional(RunGroupId),
      /**
       * Set if the schedule starts the check. In that case, the check uses the authority of the person who configured the
       * schedule.
       */
      schedule: Schema.optional(Schema.Struct({ by: Schema.optionalKey(Schema.String) }))
    },
    success: Run,
    error: ApiError
  }),
  Rpc.make("Apply", { payload: { ...repeatable, planRunId: RunId }, success: replayable(Run), error: ApiError }),
  Rpc.make("Update", {
    payload: {
      ...command,
      ...CapsuleChange.fields
    },
    success: Capsule,
    error: ApiError
  }),
  /** Creates a destroy plan, or removes a Capsule that has never been applied. */
  Rpc.make("Remove", {
    payload: command,
    success: Schema.Union([Schema.Struct({ run: Run }), Schema.Struct({ capsule: Capsule })]),
    error: ApiError
  }),
  /** Releases the Capsule without destroying anything. */
  Rpc.make("Release", {
    payload: { ...command, request: ReleaseRequest },
    success: CapsuleReleased,
    error: ApiError
  }),
  /** Enables an imported Capsule. */
  Rpc.make("ConfirmImport", {
    payload: { ...command, request: ImportConfirmationRequest },
    success: Capsule,
    error: ApiError
  }),
  Rpc.make("ConfigurationPlan", {
    payload: { ...command, request: ConfigurationPlanRequest, idempotency: IdempotentRequest },
    success: replayable(ConfigurationPlanned),
    error: ApiError
  }),
  Rpc.make("ReAdopt", {
    payload: { ...command, request: ReAdoptionRequest, idempotency: IdempotentRequest },
    success: replayable(ReAdopted),
    error: ApiError
  }),
  Rpc.make("AdoptOrphanedState", {
    payload: {
      ...command,
      leftOverStateId: OrphanedStateId,
      request: AdoptionRequest,
      idempotency: IdempotentRequest
    },
    success: replayable(OrphanedStateAdopted),
    error: ApiError
  }),
  Rpc.make("DiscardOrphanedState", {
    payload: { ...command, leftOverStateId: OrphanedStateId },
    success: OrphanedState,
    error: ApiError
  }),
  /** Decides what to do about the newest snapshot of the followed lane. Afterwards, this work is no longer marked as due. */
  Rpc.make("FollowLane"),
  /** Tries again to plan a snapshot whose plan did not fit into the queue. */
  Rpc.make("FollowDeferred"),
  /**
   * Sent when an automatic plan is ready. Applies the plan if the owner has opted in. Afterwards, this work is no longer
   * marked as due.
   */
  Rpc.make("ApplyFollowed", { payload: { planRunId: RunId } })
)
