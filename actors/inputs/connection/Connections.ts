import { Context, type Effect, type Redacted } from "effect"
import type { CreateConnection, StartedOAuthConnection } from "../../../schema/api/ConnectionsApi.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { Connection, CredentialRecipe } from "../../../schema/records/Connection.ts"
import type {
  FinishAppRegistration,
  FinishAuthorization,
  StartAppRegistration,
  StartAuthorization
} from "../../../schema/commands/ConnectionCommands.ts"
import type { OAuthHelper } from "../../../schema/records/OAuthHelper.ts"
import type { ConnectionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

/** A registration of a GitHub App that was started in a browser. */
export interface StartedAppRegistration {
  readonly workspaceId: WorkspaceId
  /** Address of GitHub's website. */
  readonly address: string
  readonly organization?: string | undefined
  readonly redirectUri: string
  readonly state: Redacted.Redacted
}

/** Reads Connections, and offers operations that involve more than one Connection command (see `ConnectionCommands`). */
export class Connections extends Context.Service<
  Connections,
  {
    readonly create: (context: CommandContext, request: CreateConnection) => Effect.Effect<Connection, ApiError>
    readonly read: (id: ConnectionId) => Effect.Effect<Connection, ApiError>
    /** Returns unrevoked Connections that have expired, or expire within `connectionExpiryNotice`. */
    readonly expiring: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Connection>>
    /** Returns the Connections that the Workspace may use, of one kind or all kinds. */
    readonly list: (
      workspaceId: WorkspaceId,
      page: PageRequest,
      kind?: Connection["kind"]
    ) => Effect.Effect<Page<Connection>, ApiError>
    /**
     * Returns the Git Connections that Sources use but whose origins are unconfirmed, so that their credentials cannot be
     * sent anywhere yet.
     */
    readonly awaitingOrigins: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Connection>>
    /** Starts an authorization at the helper's server. Returns the URL for the browser. */
    readonly startOAuth: (
      context: CommandContext,
      start: Omit<StartAuthorization, "renews">
    ) => Effect.Effect<typeof StartedOAuthConnection.Type, ApiError>
    /** Creates or renews the Connection from the authorization response. */
    readonly finishOAuth: (context: CommandContext, finish: FinishAuthorization) => Effect.Effect<Connection, ApiError>
    /** Starts the registration of a GitHub App. */
    readonly startAppRegistration: (
      context: CommandContext,
      start: StartAppRegistration
    ) => Effect.Effect<
      StartedAppRegistration & { readonly connectionId: ConnectionId; readonly expiresAt: string },
      ApiError
    >
    /** Finds a registration that this session started but has not finished. */
    readonly startedAppRegistration: (
      context: CommandContext,
      found: FinishAppRegistration
    ) => Effect.Effect<StartedAppRegistration, ApiError>
    /** Creates the Connection of an App that the person has created at GitHub. */
    readonly finishAppRegistration: (
      context: CommandContext,
      finish: FinishAppRegistration
    ) => Effect.Effect<Connection, ApiError>
    /** Returns Connections whose tokens could not be renewed or revoked. */
    readonly failing: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Connection>>
    readonly helpers: Effect.Effect<ReadonlyArray<OAuthHelper>>
    readonly recipes: Effect.Effect<ReadonlyArray<CredentialRecipe>>
  }
>()("svc/actors/inputs/connection/Connections") {}
