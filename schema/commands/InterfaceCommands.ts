import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { CapsuleId } from "../records/Ids.ts"
import { InterfaceMaterializationFailure } from "../records/Interface.ts"
import { CommandContext, commandsOf } from "./Command.ts"

/** Commands for the Interfaces of one Capsule, addressed by the Capsule's id. */
export const InterfaceCommands = commandsOf(
  "Interface",
  CapsuleId,
  /** Executes an intent that an apply or a retry left pending. */
  Rpc.make("Materialize", { payload: { intentId: Schema.String } }),
  Rpc.make("Retry", {
    payload: {
      context: CommandContext,
      intentId: Schema.String,
      expected: Schema.Struct({ attempt: Schema.Int, code: Schema.String })
    },
    success: InterfaceMaterializationFailure,
    error: ApiError
  })
)
