import { Context, type Effect } from "effect"
import type { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { InstallPlanId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { InstallPlan } from "../../../schema/records/InstallPlan.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"

/** Creates and reads install plans. */
export class InstallPlans extends Context.Service<
  InstallPlans,
  {
    readonly create: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      request: CreateInstallPlan,
      idempotency: IdempotentRequest
    ) => Effect.Effect<Replayable<InstallPlan>, ApiError>
    readonly read: (id: InstallPlanId) => Effect.Effect<InstallPlan, ApiError>
  }
>()("svc/actors/commands/install-plan/InstallPlans") {}
