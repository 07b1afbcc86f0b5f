import { Schema } from "effect"
import { ConnectionKind, ConnectionStatus } from "../../schema/records/Connection.ts"
import { ConnectionId, WorkspaceId } from "../../schema/records/Ids.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

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
    env_names: Schema.String,
    file_names: Schema.String,
    sealed_values: Schema.NullOr(Schema.String),
    provider_config: Schema.String,
    module_input_defaults: Schema.String,
    last_used_at: Schema.NullOr(Timestamp),
    verified_at: Schema.NullOr(Timestamp),
    expires_at: Schema.NullOr(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
    /** JSON; null while nobody confirmed where a Git Connection may be sent. */
    origins: Schema.NullOr(Schema.String),
    /** JSON; of Git Connections made before they had origins. */
    proposed_origins: Schema.NullOr(Schema.String),
    use_rule: Schema.String,
    version: Schema.Int,
    removed_at: Schema.NullOr(Timestamp),
    /** JSON; of a Connection that an OAuth helper made. See `ConnectionTokens`, which writes these columns. */
    oauth: Schema.NullOr(Schema.String),
    oauth_fault: Schema.NullOr(Schema.String),
    sealed_tokens: Schema.NullOr(Schema.String),
    token_generation: Schema.Int
  },
  ["use_rule", "version", "token_generation"]
)
export type ConnectionRow = RowOf<typeof ConnectionRow.columns>
