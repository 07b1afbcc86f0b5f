import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { RunId } from "../records/Ids.ts"
import { Run } from "../records/Run.ts"
import { UncertainCode } from "../records/UncertainGround.ts"
import { CommandContext, commandsOf } from "./Command.ts"

/** Decisions about one Run. The Run executes outside the mailbox, so these commands always get a reply. */
export const RunCommands = commandsOf(
  "Run",
  RunId,
  Rpc.make("Approve", {
    payload: {
      context: CommandContext,
      planDigest: Schema.optional(Schema.String),
      comment: Schema.optional(Schema.String),
      /** Codes of what makes it uncertain which objects exist; the plan is not approved without them. */
      acknowledged: Schema.optional(Schema.Array(UncertainCode))
    },
    success: Run,
    error: ApiError
  }),
  Rpc.make("Cancel", {
    payload: { context: CommandContext, reason: Schema.optional(Schema.String) },
    success: Run,
    error: ApiError
  })
)
