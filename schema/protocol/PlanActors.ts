import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { CreateInstallPlan } from "../api/InstallPlansApi.ts"
import { ApiError } from "../errors/ApiError.ts"
import { CapsuleId, WorkspaceId } from "../records/Ids.ts"
import { InstallPlan, RevisionPlan } from "../records/InstallPlan.ts"
import { CommandContext, IdempotentRequest, replayable } from "./Command.ts"

/**
 * A hand-over to a coordinator: take the next step. The key distinguishes the hand-overs of one coordinator; delivery and
 * effect are one transaction.
 */
const Advance = Rpc.make("Advance", { payload: { cause: Schema.String }, primaryKey: ({ cause }) => cause })
  .annotate(ClusterSchema.Persisted, true)
  .annotate(ClusterSchema.WithTransaction, true)

/** The coordinator that turns a Git URL into a reviewable Plan Run. `Create` carries private values and is never stored. */
export const InstallPlanActor = Entity.make("InstallPlan", [
  Rpc.make("Create", {
    payload: {
      context: CommandContext,
      workspaceId: WorkspaceId,
      request: CreateInstallPlan,
      idempotency: IdempotentRequest
    },
    success: replayable(InstallPlan),
    error: ApiError
  }),
  Rpc.make("Reconcile", { payload: { context: CommandContext }, success: InstallPlan, error: ApiError }),
  Advance
])

/** The coordinator that brings a Capsule to a reviewable Plan Run for another ref. */
export const RevisionPlanActor = Entity.make("RevisionPlan", [
  Rpc.make("Create", {
    payload: {
      context: CommandContext,
      capsuleId: CapsuleId,
      ref: Schema.String,
      idempotency: IdempotentRequest
    },
    success: replayable(RevisionPlan),
    error: ApiError
  }),
  Rpc.make("Reconcile", { payload: { context: CommandContext }, success: RevisionPlan, error: ApiError }),
  Advance
])
