import { Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { CreateConnection, TestedConnection, UpdateConnection, UpdatedConnection } from "../api/ConnectionsApi.ts"
import { ApiError } from "../errors/ApiError.ts"
import { Connection } from "../records/Connection.ts"
import { CredentialOrigin } from "../records/CredentialOrigin.ts"
import { CommandContext } from "./Command.ts"

/** Commands of one Connection. `Create` and `Update` carry secrets, so none of them is ever persisted as a message. */
export const ConnectionActor = Entity.make("Connection", [
  Rpc.make("Create", {
    payload: { context: CommandContext, request: CreateConnection },
    success: Connection,
    error: ApiError
  }),
  Rpc.make("Update", {
    payload: { context: CommandContext, request: UpdateConnection },
    success: UpdatedConnection,
    error: ApiError
  }),
  Rpc.make("Remove", { payload: { context: CommandContext }, error: ApiError }),
  Rpc.make("Test", { payload: { context: CommandContext }, success: TestedConnection, error: ApiError }),
  Rpc.make("ConfirmOrigins", {
    payload: { context: CommandContext, origins: Schema.Array(CredentialOrigin) },
    success: Connection,
    error: ApiError
  }),
  Rpc.make("Revoke", { payload: { context: CommandContext }, success: Connection, error: ApiError })
])
