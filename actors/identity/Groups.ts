import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { WorkspaceId } from "../../schema/records/Ids.ts"
import { rowShape } from "../database/Table.ts"
import { MembershipRow } from "../workspace/MembershipRow.ts"
import { StoredWorkspace } from "../workspace/StoredWorkspace.ts"

const RoleInWorkspace = rowShape({ handle: StoredWorkspace.columns.handle, role: MembershipRow.columns.role })

/**
 * The groups of a person, as applications know them: `<handle of the Workspace>:<role>` for every active membership, or for the
 * one Workspace that a grant is bound to. Whatever else groups people in a Workspace is added here.
 */
export const groupsOf = Effect.fn("groupsOf")(function* (
  sql: SqlClient.SqlClient,
  subject: string,
  workspaceId: WorkspaceId | undefined
): Effect.fn.Return<ReadonlyArray<string>, SqlError> {
  const rows = yield* RoleInWorkspace.rows(sql)`SELECT w.handle, m.role
    FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.subject = ${subject} AND m.status = 'active' AND ${
      workspaceId === undefined ? sql.literal("1 = 1") : sql`m.workspace_id = ${workspaceId}`
    } ORDER BY w.handle`
  return rows.map(({ handle, role }) => `${handle}:${role}`)
})
