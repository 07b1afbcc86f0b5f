import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Subject } from "../records/Ids.ts"
import { mostGrants, Team, TeamGrant, TeamName } from "../records/Team.ts"
import { created } from "./AnswerStatus.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const inWorkspace = { workspaceId: Schema.String }
const ofTeam = { ...inWorkspace, teamId: Schema.String }
const record = Schema.Struct({ team: Team })

const mostMembers = 200

/** `members` and `grants` replace the existing lists. */
export class TeamChange extends Schema.Opaque<TeamChange>()(
  Schema.Struct({
    name: Schema.optionalKey(TeamName),
    members: Schema.optionalKey(Schema.Array(Subject).check(Schema.isMaxLength(mostMembers))),
    grants: Schema.optionalKey(Schema.Array(TeamGrant).check(Schema.isMaxLength(mostGrants)))
  })
) {}

export class NewTeam extends Schema.Opaque<NewTeam>()(Schema.Struct({ ...TeamChange.fields, name: TeamName })) {}

export class TeamsApi extends HttpApiGroup.make("teams")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces/:workspaceId/teams", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ teams: Schema.Array(Team), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces/:workspaceId/teams", {
      params: inWorkspace,
      payload: NewTeam,
      success: record.pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.patch("update", "/api/v1/workspaces/:workspaceId/teams/:teamId", {
      params: ofTeam,
      payload: TeamChange,
      success: record
    })
  )
  .add(
    HttpApiEndpoint.delete("remove", "/api/v1/workspaces/:workspaceId/teams/:teamId", {
      params: ofTeam,
      success: HttpApiSchema.NoContent
    })
  )
  .annotateEndpoints(ExtensionFamily, "teams") {}
