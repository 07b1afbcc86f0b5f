import { Schema } from "effect"
import { PoolName } from "../../../schema/agent/PoolName.ts"
import { ProvidedName } from "../../../schema/agent/ProvidedName.ts"
import { ConnectionKind, ConnectionOAuthFault, ConnectionStatus } from "../../../schema/records/Connection.ts"
import { ConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import { CredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import { ConnectionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { StoredOAuth } from "./StoredOAuth.ts"

/** Names of values or files, in order. */
export const NamesJson = jsonText(Schema.Array(Schema.String))
/** Provider settings, or default values of inputs. */
export const SettingsJson = jsonText(Schema.Record(Schema.String, Schema.Json))
export const OriginsJson = jsonText(Schema.Array(CredentialOrigin))
/** Origins that an earlier release derived. They may include hosts that cannot be written as an origin. */
export const ProposedOriginsJson = jsonText(Schema.Array(Schema.Json))
export const UseJson = jsonText(ConnectionUse)
export const OAuthJson = jsonText(StoredOAuth)
export const OAuthFaultJson = jsonText(ConnectionOAuthFault)

/** Credential holders. */
export const ConnectionRow = table(
  "connections",
  {
    id: ConnectionId,
    workspace_id: Schema.NullOr(WorkspaceId),
    scope: Schema.Literals(["workspace", "operator"]),
    provider: Schema.String,
    kind: ConnectionKind,
    recipe_id: Schema.String,
    auth_mode: Schema.String,
    display_name: Schema.String,
    status: ConnectionStatus,
    env_names: NamesJson,
    file_names: NamesJson,
    sealed_values: Schema.NullOr(Schema.String),
    provider_config: SettingsJson,
    module_input_defaults: SettingsJson,
    last_used_at: Schema.NullOr(Timestamp),
    verified_at: Schema.NullOr(Timestamp),
    expires_at: Schema.NullOr(Timestamp),
    /** The expiry time about which a notice has been sent. */
    expiry_reported: Schema.NullOr(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
    /** The confirmed origins that a Git Connection may be sent to; null until they are confirmed. */
    origins: Schema.NullOr(OriginsJson),
    /** Set for Git Connections created before Connections had origins. */
    proposed_origins: Schema.NullOr(ProposedOriginsJson),
    use_rule: UseJson,
    version: Schema.Int,
    removed_at: Schema.NullOr(Timestamp),
    /** Set for a Connection from an OAuth helper. Written by `ConnectionTokens`. */
    oauth: Schema.NullOr(OAuthJson),
    oauth_fault: Schema.NullOr(OAuthFaultJson),
    sealed_tokens: Schema.NullOr(Schema.String),
    token_generation: Schema.Int,
    /**
     * Both columns are set for a Connection whose values exist only on a pool's agents. Such a Connection has no sealed
     * values.
     */
    provided_pool: Schema.NullOr(PoolName),
    provided_name: Schema.NullOr(ProvidedName)
  },
  ["use_rule", "version", "token_generation"]
)
export type ConnectionRow = RowOf<typeof ConnectionRow.columns>

/** The columns that lists read. They exclude sealed values. */
export const ListedConnection = ConnectionRow.without("sealed_values", "sealed_tokens")
export type ListedConnection = RowOf<typeof ListedConnection.columns>
