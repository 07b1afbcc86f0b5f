import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { CapsuleId, RevisionPlanId } from "../records/Ids.ts"
import { RevisionPlan } from "../records/InstallPlan.ts"
import { CommandContext, commandsOf, IdempotentRequest, replayable } from "./Command.ts"

/** Commands for the coordinator that plans another ref for a Capsule. */
export const RevisionPlanCommands = commandsOf(
  "RevisionPlan",
  RevisionPlanId,
  Rpc.make("Create", {
    payload: {
      context: CommandContext,
      capsuleId: CapsuleId,
      ref: Schema.String,
      speculative: Schema.optional(Schema.Literal(true)),
      idempotency: IdempotentRequest
    },
    success: replayable(RevisionPlan),
    error: ApiError
  }),
  Rpc.make("Reconcile", { payload: { context: CommandContext }, success: RevisionPlan, error: ApiError }),
  /** Takes every step that is due, and clears the due marks on the Runs that made these steps due. */
  Rpc.make("Advance")
)
