import { Context, type Effect } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { CapsuleId, RevisionPlanId } from "../../../schema/records/Ids.ts"
import type { RevisionPlan } from "../../../schema/records/InstallPlan.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"

/** Creates and reads revision plans. */
export class RevisionPlans extends Context.Service<
  RevisionPlans,
  {
    readonly create: (
      context: CommandContext,
      capsuleId: CapsuleId,
      request: { readonly ref: string; readonly speculative?: true },
      idempotency: IdempotentRequest
    ) => Effect.Effect<Replayable<RevisionPlan>, ApiError>
    readonly read: (id: RevisionPlanId) => Effect.Effect<RevisionPlan, ApiError>
  }
>()("svc/actors/commands/revision-plan/RevisionPlans") {}
