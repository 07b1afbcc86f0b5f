import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import {
  CreateConnection,
  RevokedConnection,
  StartGitHubApp,
  StartOAuthConnection,
  TestedConnection,
  UpdateConnection,
  UpdatedConnection
} from "../api/ConnectionsApi.ts"
import { ApiError } from "../errors/ApiError.ts"
import { ConnectionId } from "../records/Ids.ts"
import { Connection } from "../records/Connection.ts"
import { CredentialOrigin } from "../records/CredentialOrigin.ts"
import { Timestamp } from "../records/Primitives.ts"
import { CommandContext, commandsOf } from "./Command.ts"

/** The data for starting an authorization, before svc redirects the person: the request and the browser session. */
export const StartAuthorization = Schema.Struct({
  helperId: Schema.String,
  redirectUri: Schema.String,
  sessionId: Schema.String,
  /** True if an existing Connection receives new tokens. */
  renews: Schema.Boolean,
  request: StartOAuthConnection
})
export type StartAuthorization = typeof StartAuthorization.Type

/** The authorization response that the browser delivered. */
export const FinishAuthorization = Schema.Struct({
  helperId: Schema.String,
  sessionId: Schema.String,
  /** The query that contains the code and state, as received. */
  search: Schema.String
})
export type FinishAuthorization = typeof FinishAuthorization.Type

/** The data for registering a GitHub App, before the browser sends the registration form to GitHub. */
export const StartAppRegistration = Schema.Struct({
  redirectUri: Schema.String,
  sessionId: Schema.String,
  request: StartGitHubApp
})
export type StartAppRegistration = typeof StartAppRegistration.Type

/** The data from the browser when GitHub redirects it back after creating the App. */
export const FinishAppRegistration = Schema.Struct({
  sessionId: Schema.String,
  /** The query that contains the code and state, as received. */
  search: Schema.String
})
export type FinishAppRegistration = typeof FinishAppRegistration.Type

/** Commands for one Connection. They are never stored, because some of them contain secrets. */
export const ConnectionCommands = commandsOf(
  "Connection",
  ConnectionId,
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
  /** Confirms the exact origins to which svc may send the credentials of a Git Connection from an earlier release. */
  Rpc.make("ConfirmOrigins", {
    payload: { context: CommandContext, origins: Schema.Array(CredentialOrigin) },
    success: Connection,
    error: ApiError
  }),
  Rpc.make("StartAuthorization", {
    payload: { context: CommandContext, start: StartAuthorization },
    success: Schema.Struct({ authorizationUrl: Schema.String, expiresAt: Timestamp }),
    error: ApiError
  }),
  Rpc.make("FinishAuthorization", {
    payload: { context: CommandContext, finish: FinishAuthorization },
    success: Connection,
    error: ApiError
  }),
  Rpc.make("StartAppRegistration", {
    payload: { context: CommandContext, start: StartAppRegistration },
    success: Schema.Struct({ state: Schema.String, expiresAt: Timestamp }),
    error: ApiError
  }),
  Rpc.make("FinishAppRegistration", {
    payload: { context: CommandContext, finish: FinishAppRegistration },
    success: Connection,
    error: ApiError
  }),
  /** Renews the access token if it is due. If the Connection cannot be used, returns the reason. */
  Rpc.make("RenewTokens", { success: Schema.Struct({ problem: Schema.optionalKey(Schema.String) }) }),
  /** Revokes the tokens of a revoked Connection at the authorization server, if that is due. */
  Rpc.make("RevokeTokens"),
  /**
   * Revokes the Connection immediately: it can no longer be used, plans that used it become void, and Runs that change
   * nothing are stopped.
   */
  Rpc.make("Revoke", { payload: { context: CommandContext }, success: RevokedConnection, error: ApiError })
)
