import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Subject } from "../records/Ids.ts"
import { mostGrants, Team, TeamGrant, TeamName } from "../records/Team.ts"
import { created, described, describedGroup } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const inWorkspace = { workspaceId: Schema.String }
const ofTeam = { ...inWorkspace, teamId: Schema.String }
const record = Schema.Struct({ team: Team })

const mostMembers = 200

/** `members` and `grants` replace what was there. */
export class TeamChange extends Schema.Opaque<TeamChange>()(
  Schema.Struct({
    name: Schema.optionalKey(TeamName),
    members: Schema.optionalKey(Schema.Array(Subject).check(Schema.isMaxLength(mostMembers))),
    grants: Schema.optionalKey(Schema.Array(TeamGrant).check(Schema.isMaxLength(mostGrants)))
  })
) {}

export class NewTeam extends Schema.Opaque<NewTeam>()(Schema.Struct({ ...TeamChange.fields, name: TeamName })) {}

export class TeamsApi extends describedGroup("teams", "Teams of a Workspace and what they may do where.")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces/:workspaceId/teams", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ teams: Schema.Array(Team), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/teams"),
        "List teams, oldest first",
        "With their members, and the roles that they add for Projects and environments."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces/:workspaceId/teams", {
      params: inWorkspace,
      payload: NewTeam,
      success: record.pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/teams"),
        "Create a team",
        "Its members have to be active members of the Workspace (409). A grant adds a role for the Capsules of a Project and environment, and their Runs; it never takes one away. 409 for a name that is taken."
      )
    )
  )
  .add(
    HttpApiEndpoint.patch("update", "/api/v1/workspaces/:workspaceId/teams/:teamId", {
      params: ofTeam,
      payload: TeamChange,
      success: record
    }).annotateMerge(
      described(
        accessOf("PATCH /api/v1/workspaces/:workspaceId/teams/:teamId"),
        "Change a team",
        "`members` and `grants` replace what was there. An approval that counted by the team lapses with the membership."
      )
    )
  )
  .add(
    HttpApiEndpoint.delete("remove", "/api/v1/workspaces/:workspaceId/teams/:teamId", {
      params: ofTeam,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      described(
        accessOf("DELETE /api/v1/workspaces/:workspaceId/teams/:teamId"),
        "Remove a team",
        "409 while a rule of approval names it. What it granted ends."
      )
    )
  ) {}
