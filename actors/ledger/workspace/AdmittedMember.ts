import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { MembershipId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Role } from "../../../schema/records/Workspace.ts"
import { newId, now } from "../../base/Identity.ts"
import { MembershipRow } from "./MembershipRow.ts"

/** Makes a person who has agreed an active member, in the caller's transaction. A former member returns with this role. */
export const admitMember = Effect.fn("admitMember")(function* (member: {
  readonly workspaceId: WorkspaceId
  readonly subject: string
  readonly role: Role
}) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`INSERT INTO memberships ${MembershipRow.values(sql, {
    id: yield* newId(MembershipId, "mbr"),
    workspace_id: member.workspaceId,
    subject: member.subject,
    role: member.role,
    status: "active",
    left_at: null,
    created_at: at,
    updated_at: at
  })} ON CONFLICT (workspace_id, subject) DO UPDATE SET role = excluded.role, status = excluded.status,
    left_at = excluded.left_at, updated_at = excluded.updated_at`
}, Effect.orDie)
