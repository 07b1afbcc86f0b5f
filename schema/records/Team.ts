import { Schema } from "effect"
import { ProjectId, Subject, TeamId, WorkspaceId } from "./Ids.ts"
import { EnvironmentName, Timestamp } from "./Primitives.ts"
import { Role } from "./Workspace.ts"

/**
 * A role that a team has for the Capsules of a Project and environment. A grant without a Project or environment applies to
 * all Projects or environments. A grant can only raise a member's role in the Workspace.
 */
export class TeamGrant extends Schema.Opaque<TeamGrant>()(
  Schema.Struct({
    projectId: Schema.optionalKey(ProjectId),
    environment: Schema.optionalKey(EnvironmentName),
    role: Role.check(
      Schema.makeFilter((role) => role !== "owner", { expected: "viewer, member or admin: owners own the Workspace" })
    )
  }).annotate({ identifier: "TeamGrant" })
) {}

/** Maximum number of grants of a team. */
export const mostGrants = 50

export const TeamName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,38}$/, {
    description: "1 to 39 of a-z, 0-9 and -, starting with a letter or digit"
  })
)

/** A named group of members of a Workspace. Only members of the Workspace can be in a team. */
export class Team extends Schema.Opaque<Team>()(
  Schema.Struct({
    id: TeamId,
    workspaceId: WorkspaceId,
    name: TeamName,
    members: Schema.Array(Subject),
    grants: Schema.Array(TeamGrant),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Team" })
) {}
