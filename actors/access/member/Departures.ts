import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import type { Departure } from "../../../schema/records/Departure.ts"
import { AccessTokenId, CapsuleId, ConnectionId, SourceId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { rowShape } from "../../base/database/Table.ts"
import { nowUntil } from "../../base/database/ReadHorizon.ts"

const TokenShape = rowShape({
  token_id: AccessTokenId,
  name: Schema.String,
  workspace_id: Schema.NullOr(WorkspaceId),
  last_used_at: Schema.NullOr(Timestamp),
  expires_at: Schema.NullOr(Timestamp)
})

const KeptShape = rowShape({
  token_id: AccessTokenId,
  name: Schema.String,
  subject: Subject,
  automation: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Timestamp)
})

// Connections and Capsules belong to folders above this one.
const UseShape = rowShape({
  connection_id: ConnectionId,
  display_name: Schema.String,
  use: Schema.Literals(["auto_update", "drift_check", "sync"]),
  capsule_id: Schema.NullOr(CapsuleId),
  source_id: Schema.NullOr(SourceId),
  name: Schema.String
})

/**
 * What stops in the Workspace when the member leaves, according to the rules for Connections and tokens: read in the removal's
 * transaction, or beforehand for display.
 */
export const departureOf = Effect.fn("departureOf")(function* (workspaceId: WorkspaceId, subject: Subject) {
  const sql = yield* SqlClient.SqlClient
  const tokens = yield* TokenShape.rows(sql)`SELECT t.token_id, t.name, t.workspace_id, t.last_used_at, t.expires_at
    FROM access_tokens t WHERE t.subject = ${subject} AND t.revoked_at IS NULL
      AND (t.workspace_id IS NULL OR t.workspace_id = ${workspaceId}) ORDER BY t.created_at, t.token_id`
  const kept = yield* KeptShape.rows(
    sql
  )`SELECT t.token_id, t.name, t.subject, u.display_name AS automation, t.expires_at
    FROM access_tokens t JOIN users u ON u.subject = t.subject
    WHERE t.created_by = ${subject} AND t.subject <> ${subject} AND t.workspace_id = ${workspaceId} AND t.revoked_at IS NULL
    ORDER BY t.created_at, t.token_id`
  const bound = sql`FROM capsules c JOIN provider_bindings b ON b.install_config_id = c.install_config_id
    JOIN connections n ON n.id = b.connection_id
    WHERE c.workspace_id = ${workspaceId} AND ${sql.literal(livingCapsule("c."))}`
  const uses = yield* UseShape.rows(sql)`SELECT DISTINCT n.id AS connection_id, n.display_name, 'auto_update' AS use,
      c.id AS capsule_id, NULL AS source_id, c.name ${bound} AND c.auto_update_enabled = 1 AND c.auto_update_by = ${subject}
    UNION SELECT n.id, n.display_name, 'drift_check', c.id, NULL, c.name ${bound}
      AND (c.drift_check_by = ${subject} OR (c.drift_check_hours IS NULL AND EXISTS (SELECT 1 FROM workspaces w
        WHERE w.id = c.workspace_id AND w.drift_check_hours > 0 AND w.drift_check_by = ${subject})))
    UNION SELECT n.id, n.display_name, 'sync', NULL, s.id, s.name FROM sources s
      JOIN connections n ON n.id = s.auth_connection_id
      WHERE s.workspace_id = ${workspaceId} AND s.auth_connection_by = ${subject}
    ORDER BY 2, 3, 6, 4`
  const present = yield* nowUntil([...tokens, ...kept].map(({ expires_at }) => expires_at))
  const isUsable = ({ expires_at }: { readonly expires_at: string | null }) =>
    expires_at === null || expires_at > present
  return {
    subject,
    tokens: tokens.filter(isUsable).map(({ last_used_at, name, token_id, workspace_id }) => ({
      id: token_id,
      name,
      bound: workspace_id !== null,
      ...(last_used_at === null ? {} : { lastUsedAt: last_used_at })
    })),
    connections: uses.map((row) => ({
      connectionId: row.connection_id,
      displayName: row.display_name,
      use: row.use,
      ...(row.capsule_id === null ? {} : { capsuleId: row.capsule_id }),
      ...(row.source_id === null ? {} : { sourceId: row.source_id }),
      name: row.name
    })),
    keptTokens: kept.filter(isUsable).map(({ automation, name, subject: holder, token_id }) => ({
      id: token_id,
      name,
      subject: holder,
      automation: automation ?? holder
    }))
  } satisfies Departure
}, Effect.orDie)

/** What the history records about a departure: ids only. */
export const departureData = ({ connections, keptTokens, tokens }: Departure) => ({
  ...(tokens.length === 0 ? {} : { stoppedTokens: tokens.map(({ id }) => id) }),
  ...(connections.length === 0
    ? {}
    : { stoppedConnections: [...new Set(connections.map(({ connectionId }) => connectionId))] }),
  ...(keptTokens.length === 0 ? {} : { keptTokens: keptTokens.map(({ id }) => id) })
})
