import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { Run } from "../records/Run.ts"
import { UncertainCode } from "../records/UncertainGround.ts"
import { CommandContext, commandsOf } from "./Command.ts"

/** Decisions about one Run. The Run executes outside the mailbox, so these commands always get a reply. */
export const RunCommands = commandsOf("Run", [
  Rpc.make("Approve", {
    payload: {
      context: CommandContext,
      planDigest: Schema.optionalKey(Schema.String),
      comment: Schema.optionalKey(Schema.String),
      acknowledged: Schema.optionalKey(Schema.Array(UncertainCode))
    },
    success: Run,
    error: ApiError
  }),
  Rpc.make("Cancel", {
    payload: { context: CommandContext, reason: Schema.optionalKey(Schema.String) },
    success: Run,
    error: ApiError
  })
])
