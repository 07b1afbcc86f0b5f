import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { CreateInstallPlan } from "../api/InstallPlansApi.ts"
import { ApiError } from "../errors/ApiError.ts"
import { CapsuleId, WorkspaceId } from "../records/Ids.ts"
import { InstallPlan, RevisionPlan } from "../records/InstallPlan.ts"
import { CommandContext, commandsOf, IdempotentRequest, replayable } from "./Command.ts"

/** Takes every step that is due, and clears the marks of the coordinator's Runs. */
const Advance = Rpc.make("Advance")

/** The coordinator that turns a Git URL into a reviewable Plan Run. `Create` carries private values and is never stored. */
export const InstallPlanActor = commandsOf("InstallPlan", [
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
export const RevisionPlanActor = commandsOf("RevisionPlan", [
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
