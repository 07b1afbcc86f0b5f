import { Effect, Schema } from "effect"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { SqlClient } from "effect/sql"

/** The `workspaces` table. Reads use `WorkspaceRow` instead. */
export const StoredWorkspace = table("workspaces", {
  id: WorkspaceId,
  handle: Schema.String,
  display_name: Schema.String,
  type: Schema.Literals(["personal", "organization"]),
  personal_owner: Schema.NullOr(Subject),
  archived_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
  automation_paused_at: Schema.NullOr(Timestamp),
  automation_paused_by: Schema.NullOr(Schema.String),
  automation_pause_reason: Schema.NullOr(Schema.String),
  drift_check_hours: Schema.NullOr(Schema.Int),
  drift_check_by: Schema.NullOr(Schema.String)
})
export type StoredWorkspace = RowOf<typeof StoredWorkspace.columns>

const read = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* StoredWorkspace.some(
    sql,
    "automation_paused_at",
    "automation_paused_by",
    "automation_pause_reason",
    "archived_at"
  )`SELECT automation_paused_at, automation_paused_by, automation_pause_reason, archived_at
    FROM workspaces WHERE id = ${workspaceId}`
  return rows[0]
}, Effect.orDie)

/** Returns a message that explains why automation is paused in the Workspace, or `undefined` if it is not paused. */
export const automationRefusal = Effect.fn("automationRefusal")(function* (workspaceId: WorkspaceId) {
  const row = yield* read(workspaceId)
  if (row === undefined || row.archived_at !== null) return "the Workspace is archived"
  if (row.automation_paused_at === null) return undefined
  const reason = row.automation_pause_reason === null ? "" : ` (${row.automation_pause_reason})`
  return `automation of the Workspace has been paused since ${row.automation_paused_at}${reason}`
})
