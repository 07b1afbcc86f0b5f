import type { MembersApi } from "../../../schema/api/MembersApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const membersProse: GroupProse<typeof MembersApi> = {
  about: "Members of a Workspace.",
  routes: {
    departure: route(
      "Read what a removal would stop",
      "Owners and admins read it of everybody, everybody of themselves. `tokens` stop reaching the Workspace; `connections` are no longer used without a person on this member's authority, by automatic updates, drift checks and looks at Sources; `keptTokens` are those of automations that the member made and may have kept: they go on working until somebody revokes them. Changes nothing."
    ),
    tokens: route(
      "List the tokens of an automation, oldest first",
      "Name, scopes and limits, expiry and last use; revoked ones included, secrets never. The tokens of a person are their own (404)."
    ),
    createToken: route(
      "Create a token of an automation",
      "An ordinary personal access token, bound to the Workspace; the secret is shown once. Asks for a session whose person confirmed lately that it is them. `expiresAt` is at most 366 days ahead. The scopes `project:<id>` and `environment:<name>` limit it: it then reaches Capsules in one of the named Projects and environments, with their Runs and states, and nothing of the Workspace beyond them, whether the path or the body names it: a Capsule gets no Connection from it that the Capsule does not already bind. A suspended automation gets none (403)."
    ),
    revokeToken: route(
      "Revoke a token of an automation",
      "It is refused from the next request on. Revoking it again changes nothing."
    )
  }
}
