import { Rpc } from "effect/rpc"
import { CreateInstallPlan } from "../api/InstallPlansApi.ts"
import { ApiError } from "../errors/ApiError.ts"
import { WorkspaceId, InstallPlanId } from "../records/Ids.ts"
import { InstallPlan } from "../records/InstallPlan.ts"
import { CommandContext, commandsOf, IdempotentRequest, replayable } from "./Command.ts"

/**
 * Commands for the coordinator that turns a Git URL into a plan for review. `Create` contains private values and is never
 * stored.
 */
export const InstallPlanCommands = commandsOf(
  "InstallPlan",
  InstallPlanId,
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
  /** Takes every step that is due, and clears the due marks on the Runs that made these steps due. */
  Rpc.make("Advance")
)
