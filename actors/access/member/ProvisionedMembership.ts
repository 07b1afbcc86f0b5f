import { Schema } from "effect"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Role } from "../../../schema/records/Workspace.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Memberships that follow the upstream sign-in rules. Memberships granted by people have no row here. */
export const ProvisionedMembership = table("provisioned_memberships", {
  workspace_id: WorkspaceId,
  subject: Subject,
  /** `null` once the rules have ended the membership; after that, only the rules can bring it back. */
  role: Schema.NullOr(Role),
  updated_at: Timestamp
})
export type ProvisionedMembership = RowOf<typeof ProvisionedMembership.columns>
