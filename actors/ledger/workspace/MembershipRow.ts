import { Schema } from "effect"
import { MembershipId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { MemberStatus, Role } from "../../../schema/records/Workspace.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Who is a member of which Workspace. */
export const MembershipRow = table("memberships", {
  id: MembershipId,
  workspace_id: WorkspaceId,
  subject: Subject,
  role: Role,
  status: MemberStatus,
  /** When the person left; only they can return, through a new invitation. `null` for a member suspended by somebody else. */
  left_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp
})
export type MembershipRow = RowOf<typeof MembershipRow.columns>
