import { Effect, Schema } from "effect"
import { ReadSql } from "../../../actors/database/ReadSql.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Workspace } from "../../../schema/records/Workspace.ts"

const WorkspaceRows = Schema.Array(Schema.Struct({ ...Workspace.fields, archivedAt: Schema.NullOr(Timestamp) }))
const decodeRows = Schema.decodeUnknownEffect(WorkspaceRows)

const toRecord = ({ archivedAt, ...row }: (typeof WorkspaceRows.Type)[number]): Workspace =>
  archivedAt === null ? row : { ...row, archivedAt }

/** The active memberships of a person as the dashboard's first screen shows them, oldest first. */
export const workspacesOf = Effect.fn("workspacesOf")(function* (subject: string, limit: number) {
  const sql = yield* ReadSql
  const rows = yield* sql`SELECT w.id, w.handle, w.display_name AS "displayName", w.type, m.role,
      w.archived_at AS "archivedAt", w.created_at AS "createdAt", w.updated_at AS "updatedAt"
    FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.subject = ${subject} AND m.status = 'active' ORDER BY w.created_at, w.id LIMIT ${limit}`
  return (yield* decodeRows(rows)).map(toRecord)
}, Effect.orDie)

/** One Workspace with the person's role in it. */
export const workspaceOf = Effect.fn("workspaceOf")(function* (subject: string, workspaceId: string) {
  const sql = yield* ReadSql
  const rows = yield* sql`SELECT w.id, w.handle, w.display_name AS "displayName", w.type, m.role,
      w.archived_at AS "archivedAt", w.created_at AS "createdAt", w.updated_at AS "updatedAt"
    FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.subject = ${subject} AND w.id = ${workspaceId} AND m.status = 'active'`
  return (yield* decodeRows(rows)).map(toRecord)[0]
}, Effect.orDie)
