import type { TeamsApi } from "../../../schema/api/TeamsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const teamsProse: GroupProse<typeof TeamsApi> = {
  about: "Teams of a Workspace and what they may do where.",
  routes: {
    list: route(
      "List teams, oldest first",
      "With their members, and the roles that they add for Projects and environments."
    ),
    create: route(
      "Create a team",
      "Its members have to be active members of the Workspace (409). A grant adds a role for the Capsules of a Project and environment, and their Runs; it never takes one away. 409 for a name that is taken."
    ),
    update: route(
      "Change a team",
      "`members` and `grants` replace what was there. An approval that counted by the team lapses with the membership."
    ),
    remove: route("Remove a team", "409 while a rule of approval names it. What it granted ends.")
  }
}
