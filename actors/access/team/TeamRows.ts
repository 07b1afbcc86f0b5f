import { Schema } from "effect"
import { ProjectId, Subject, TeamId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Role } from "../../../schema/records/Workspace.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Teams of a Workspace. */
export const TeamRow = table("teams", {
  id: TeamId,
  workspace_id: WorkspaceId,
  name: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type TeamRow = RowOf<typeof TeamRow.columns>

/** The members of each team. */
export const TeamMemberRow = table("team_members", { team_id: TeamId, subject: Subject })

/** A team's roles in Projects and environments. */
export const TeamGrantRow = table("team_grants", {
  team_id: TeamId,
  position: Schema.Int,
  project_id: Schema.NullOr(ProjectId),
  environment: Schema.NullOr(Schema.String),
  role: Role
})
export type TeamGrantRow = RowOf<typeof TeamGrantRow.columns>
