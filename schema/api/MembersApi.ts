import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { AccountToken } from "../records/AccountToken.ts"
import { Departure } from "../records/Departure.ts"
import { displayText, GivenTime } from "../records/Primitives.ts"
import { created, described, describedGroup } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const ofMember = { workspaceId: Schema.String, subject: Schema.String }

/** What follows from a membership: the tokens of an automation, and what stops when somebody goes. */
export class MembersApi extends describedGroup("members", "Members of a Workspace.")
  .add(
    HttpApiEndpoint.get("departure", "/api/v1/workspaces/:workspaceId/members/:subject/departure", {
      params: ofMember,
      success: Schema.Struct({ departure: Departure })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/members/:subject/departure"),
        "Read what a removal would stop",
        "Owners and admins read it of everybody, everybody of themselves. `tokens` stop reaching the Workspace; `connections` are no longer used without a person on this member's authority, by automatic updates, drift checks and looks at Sources; `keptTokens` are those of automations that the member made and may have kept: they go on working until somebody revokes them. Changes nothing."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("tokens", "/api/v1/workspaces/:workspaceId/members/:subject/tokens", {
      params: ofMember,
      query: pageQuery,
      success: Schema.Struct({ tokens: Schema.Array(AccountToken), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/members/:subject/tokens"),
        "List the tokens of an automation, oldest first",
        "Name, scopes and limits, expiry and last use; revoked ones included, secrets never. The tokens of a person are their own (404)."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("createToken", "/api/v1/workspaces/:workspaceId/members/:subject/tokens", {
      params: ofMember,
      payload: Schema.Struct({
        name: displayText(80),
        scopes: Schema.Array(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128))).check(
          Schema.isMinLength(1),
          Schema.isMaxLength(32)
        ),
        expiresAt: GivenTime
      }),
      success: Schema.Struct({ token: Schema.String, tokenRecord: AccountToken }).pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/members/:subject/tokens"),
        "Create a token of an automation",
        "An ordinary personal access token, bound to the Workspace; the secret is shown once. Asks for a session whose person confirmed lately that it is them. `expiresAt` is at most 366 days ahead. The scopes `project:<id>` and `environment:<name>` limit it: it then reaches Capsules in one of the named Projects and environments, with their Runs and states, and nothing of the Workspace beyond them. A suspended automation gets none (403)."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("revokeToken", "/api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke", {
      params: { ...ofMember, tokenId: Schema.String },
      success: Schema.Struct({ tokenRecord: AccountToken })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke"),
        "Revoke a token of an automation",
        "It is refused from the next request on. Revoking it again changes nothing."
      )
    )
  ) {}
