import { Schema } from "effect"
import { ConnectionId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

export const ConnectionKind = Schema.Literals(["provider", "git_https", "git_ssh"])
export type ConnectionKind = typeof ConnectionKind.Type

/** `unconfirmed`: brought back by a restore, and not used until the operator confirms it. */
export const ConnectionStatus = Schema.Literals(["pending", "verified", "expired", "revoked", "error", "unconfirmed"])
export type ConnectionStatus = typeof ConnectionStatus.Type

/** A write-only credential holder. Values and file contents never come back. */
export const Connection = Schema.Struct({
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
  providerConfig: Schema.Record(Schema.String, Schema.Json),
  moduleInputDefaults: Schema.Record(Schema.String, Schema.Json),
  lastUsedAt: Schema.optionalKey(Timestamp),
  verifiedAt: Schema.optionalKey(Timestamp),
  expiresAt: Schema.optionalKey(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "Connection" })
export type Connection = typeof Connection.Type

const LocalizedText = Schema.Struct({ ja: Schema.String, en: Schema.String })

export const RecipeValue = Schema.Struct({
  name: Schema.String,
  label: LocalizedText,
  required: Schema.Boolean,
  secret: Schema.Boolean,
  /** The provider argument of the same meaning, used when two configurations of one provider need different credentials. */
  argument: Schema.optionalKey(Schema.String)
})

/** Setup help for a known provider. A provider without a recipe uses `generic-env`. */
export const CredentialRecipe = Schema.Struct({
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
export type CredentialRecipe = typeof CredentialRecipe.Type
