import { Context, type Effect } from "effect"
import type {
  CreateConnection,
  RevokedConnection,
  StartedOAuthConnection,
  TestedConnection,
  UpdateConnection,
  UpdatedConnection
} from "../../../schema/api/ConnectionsApi.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { Connection, CredentialRecipe } from "../../../schema/records/Connection.ts"
import type { CredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import type { FinishAuthorization, StartAuthorization } from "../../../schema/commands/ConnectionCommands.ts"
import type { OAuthHelper } from "../../../schema/records/OAuthHelper.ts"
import type { ConnectionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { CommandContext } from "../../Command.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

/** Client of the Connection actor, with its reads. */
export class Connections extends Context.Service<
  Connections,
  {
    readonly create: (context: CommandContext, request: CreateConnection) => Effect.Effect<Connection, ApiError>
    /** Confirms the exact origins to which an older Git Connection may be sent. */
    readonly confirmOrigins: (
      context: CommandContext,
      id: ConnectionId,
      origins: ReadonlyArray<CredentialOrigin>
    ) => Effect.Effect<Connection, ApiError>
    readonly read: (id: ConnectionId) => Effect.Effect<Connection, ApiError>
    readonly update: (
      context: CommandContext,
      id: ConnectionId,
      request: UpdateConnection
    ) => Effect.Effect<typeof UpdatedConnection.Type, ApiError>
    readonly remove: (context: CommandContext, id: ConnectionId) => Effect.Effect<void, ApiError>
    readonly test: (context: CommandContext, id: ConnectionId) => Effect.Effect<typeof TestedConnection.Type, ApiError>
    /** Revokes it at once: it is not used again, plans made with it are voided, and Runs that change nothing are stopped. */
    readonly revoke: (
      context: CommandContext,
      id: ConnectionId
    ) => Effect.Effect<typeof RevokedConnection.Type, ApiError>
    /** Connections that have expired, or will within `connectionExpiryNotice`, and have not been revoked. */
    readonly expiring: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Connection>>
    /** Connections that the Workspace may use, of one kind or of all. */
    readonly list: (
      workspaceId: WorkspaceId,
      page: PageRequest,
      kind?: Connection["kind"]
    ) => Effect.Effect<Page<Connection>, ApiError>
    /** Git Connections that Sources use but that are not sent anywhere until their origins are confirmed. */
    readonly awaitingOrigins: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Connection>>
    /** Prepares an authorization at the helper's server; returns where to send the browser. */
    readonly startOAuth: (
      context: CommandContext,
      start: Omit<StartAuthorization, "renews">
    ) => Effect.Effect<typeof StartedOAuthConnection.Type, ApiError>
    /** Creates or renews the Connection with the authorization response. */
    readonly finishOAuth: (context: CommandContext, finish: FinishAuthorization) => Effect.Effect<Connection, ApiError>
    /** Connections whose tokens could not be renewed or revoked. */
    readonly failing: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Connection>>
    readonly helpers: Effect.Effect<ReadonlyArray<OAuthHelper>>
    readonly recipes: Effect.Effect<ReadonlyArray<CredentialRecipe>>
  }
>()("svc/actors/inputs/connection/Connections") {}
