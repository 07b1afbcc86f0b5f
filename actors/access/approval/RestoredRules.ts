import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"

/** Approval rules and teams of a Workspace that a restore brought back. */
export const RestoredRules = Schema.Struct({
  workspaceId: WorkspaceId,
  /** Its handle. */
  workspace: Schema.String,
  approvalRules: Schema.Int,
  teams: Schema.Int
})
export type RestoredRules = typeof RestoredRules.Type

/**
 * Lists Workspaces with restored approval rules or teams, until all their memberships have been reviewed. Ignores rules that were
 * changed after the restore, because only a member with a confirmed membership can have changed them.
 */
export const restoredRules = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.orDie(
    rowShape(RestoredRules.fields).rows(sql)`SELECT * FROM (
      SELECT w.id AS "workspaceId", w.handle AS workspace,
        (SELECT COUNT(*) FROM approval_rules a WHERE a.workspace_id = w.id AND a.updated_at <= held.restored_at) AS "approvalRules",
        (SELECT COUNT(*) FROM teams t WHERE t.workspace_id = w.id AND t.updated_at <= held.restored_at) AS teams
      FROM (SELECT m.workspace_id, MAX(r.restored_at) AS restored_at FROM restore_review r
        JOIN memberships m ON m.id = r.record_id AND m.status = 'unconfirmed'
        WHERE r.decision IS NULL GROUP BY m.workspace_id) held
      JOIN workspaces w ON w.id = held.workspace_id
    ) counted WHERE "approvalRules" > 0 OR teams > 0 ORDER BY workspace`
  )
)
