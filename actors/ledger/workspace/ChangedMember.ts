import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { MemberStatus, Role } from "../../../schema/records/Workspace.ts"
import { now } from "../../base/Identity.ts"
import { MembershipRow } from "./MembershipRow.ts"

/** Changes an existing membership in the caller's transaction. The caller has decided that it may be changed. */
export const changeMember = Effect.fn("changeMember")(function* (
  member: { readonly workspaceId: WorkspaceId; readonly subject: string },
  change: { readonly role?: Role; readonly status?: MemberStatus }
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE memberships SET ${MembershipRow.changes(sql, { ...change, updated_at: yield* now })}
    WHERE workspace_id = ${member.workspaceId} AND subject = ${member.subject}`
}, Effect.orDie)
