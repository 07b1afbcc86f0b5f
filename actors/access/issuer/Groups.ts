import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import { StoredWorkspace } from "../../ledger/workspace/StoredWorkspace.ts"

const GroupRow = rowShape({
  handle: StoredWorkspace.columns.handle,
  role: MembershipRow.columns.role,
  team: Schema.NullOr(Schema.String)
})

/**
 * The groups of a person, as applications see them: `<handle of the Workspace>:<role>` for every active membership, and
 * `<handle>:team:<name>` for every team in that Workspace to which they belong; or only for the one Workspace to which a grant is
 * bound.
 */
export const groupsOf = Effect.fn("groupsOf")(function* (
  sql: SqlClient.SqlClient,
  subject: string,
  workspaceId: WorkspaceId | undefined
): Effect.fn.Return<ReadonlyArray<string>, SqlError> {
  const rows = yield* GroupRow.rows(sql)`SELECT w.handle, m.role, t.name AS team
    FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
    LEFT JOIN teams t ON t.workspace_id = m.workspace_id
      AND t.id IN (SELECT tm.team_id FROM team_members tm WHERE tm.subject = m.subject)
    WHERE m.subject = ${subject} AND m.status = 'active' AND ${
      workspaceId === undefined ? sql.literal("1 = 1") : sql`m.workspace_id = ${workspaceId}`
    } ORDER BY w.handle, t.name`
  const groups = rows.flatMap(({ handle, role, team }) => [
    `${handle}:${role}`,
    ...(team === null ? [] : [`${handle}:team:${team}`])
  ])
  return [...new Set(groups)]
})
