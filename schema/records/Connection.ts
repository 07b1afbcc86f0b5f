import { Schema } from "effect"
import { ProvidedBy } from "../agent/ProvidedName.ts"
import { ConnectionUse } from "./ConnectionUse.ts"
import { CredentialOrigin } from "./CredentialOrigin.ts"
import { ConnectionId, SourceId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** `forge` is for pull requests on GitHub, GitLab or Forgejo, according to its `provider`. */
export const ConnectionKind = Schema.Literals(["provider", "git_https", "git_ssh", "forge"])
export type ConnectionKind = typeof ConnectionKind.Type

/** `unconfirmed`: restored from a backup; not used until the operator confirms it. */
export const ConnectionStatus = Schema.Literals(["pending", "verified", "expired", "revoked", "error", "unconfirmed"])
export type ConnectionStatus = typeof ConnectionStatus.Type

/**
 * An origin to which an earlier release sent a Connection for Sources, when Connections did not yet have origins. Nothing is
 * sent there until an owner or admin confirms the origin, because a Source may have pointed to a hostile server.
 */
export class ProposedOrigin extends Schema.Opaque<ProposedOrigin>()(
  Schema.Struct({
    origin: CredentialOrigin,
    sources: Schema.Array(
      Schema.Struct({
        id: SourceId,
        name: Schema.String,
        url: Schema.String,
        /** The subject who last selected the Connection for the Source, if the history contains that event. */
        chosenBy: Schema.optionalKey(Schema.String)
      })
    )
  }).annotate({ identifier: "ProposedOrigin" })
) {}

/**
 * The condition that a test checks: all fields of the recipe are set, a Git server accepts the credentials, a forge accepts
 * the credentials and they grant enough permissions, or the operator allows the Workspace to use the pool's credentials.
 */
export const CredentialTestKind = Schema.Literals(["completeness", "git_server", "forge", "pool"])
export type CredentialTestKind = typeof CredentialTestKind.Type

/**
 * A problem with a Connection's tokens: the authorization server refused to renew them, could not be reached, or has not revoked
 * them yet.
 */
export class ConnectionOAuthFault extends Schema.Opaque<ConnectionOAuthFault>()(
  Schema.Struct({
    code: Schema.Literals(["refresh_refused", "refresh_failed", "revocation_failed"]),
    message: Schema.String,
    at: Timestamp
  })
) {}

/** Set on a Connection that an OAuth helper created. Tokens are never returned. */
export class ConnectionOAuth extends Schema.Opaque<ConnectionOAuth>()(
  Schema.Struct({
    helperId: Schema.String,
    scopes: Schema.Array(Schema.String),
    /** True if svc renews the access token before Runs. Otherwise the Connection expires when the token expires. */
    refreshable: Schema.Boolean,
    accessTokenExpiresAt: Schema.optionalKey(Timestamp),
    /** Time at which the current access token was issued. */
    grantedAt: Timestamp,
    fault: Schema.optionalKey(ConnectionOAuthFault)
  })
) {}

/** A Connection that expires within this time is listed as needing attention. */
export const connectionExpiryNotice = "14 days"

/** A credential. Values and file contents can be written but are never returned. */
export class Connection extends Schema.Opaque<Connection>()(
  Schema.Struct({
    id: ConnectionId,
    workspaceId: Schema.optionalKey(WorkspaceId),
    scope: Schema.Literals(["workspace", "operator"]),
    provider: Schema.String,
    kind: ConnectionKind,
    recipeId: Schema.String,
    authMode: Schema.String,
    displayName: Schema.String,
    status: ConnectionStatus,
    envNames: Schema.Array(Schema.String),
    fileNames: Schema.Array(Schema.String),
    /**
     * The pool whose agents hold the Connection's values, and the name of the values in that pool. svc stores no variables
     * or files for such a Connection.
     */
    providedBy: Schema.optionalKey(ProvidedBy),
    /** For a Connection to a Git server or forge: the only origins that may receive it. They cannot be changed. */
    origins: Schema.optionalKey(Schema.Array(CredentialOrigin)),
    /** Set on a Git Connection from a release in which Connections had no origins, until somebody confirms its origins. */
    proposedOrigins: Schema.optionalKey(Schema.Array(ProposedOrigin)),
    providerConfig: Schema.Record(Schema.String, Schema.Json),
    moduleInputDefaults: Schema.Record(Schema.String, Schema.Json),
    use: ConnectionUse,
    oauth: Schema.optionalKey(ConnectionOAuth),
    /** Version of the values, starting at 1. Each rotation increments it. */
    version: Schema.Int,
    lastUsedAt: Schema.optionalKey(Timestamp),
    verifiedAt: Schema.optionalKey(Timestamp),
    expiresAt: Schema.optionalKey(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Connection" })
) {}

const LocalizedText = Schema.Struct({ ja: Schema.String, en: Schema.String })

export const RecipeValue = Schema.Struct({
  name: Schema.String,
  label: LocalizedText,
  required: Schema.Boolean,
  secret: Schema.Boolean,
  /** The provider argument to use instead, if two configurations of one provider need different credentials. */
  argument: Schema.optionalKey(Schema.String)
})

/** Setup help for a known provider. Providers without a recipe use `generic-env`. */
export class CredentialRecipe extends Schema.Opaque<CredentialRecipe>()(
  Schema.Struct({
    id: Schema.String,
    provider: Schema.String,
    displayName: LocalizedText,
    description: LocalizedText,
    authModes: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        label: LocalizedText,
        values: Schema.Array(RecipeValue),
        files: Schema.Array(
          Schema.Struct({
            name: Schema.String,
            label: LocalizedText,
            envName: Schema.optionalKey(Schema.String),
            required: Schema.Boolean
          })
        )
      })
    ),
    documentationUrl: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "CredentialRecipe" })
) {}
