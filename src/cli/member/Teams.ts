import { Effect } from "effect"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { allPages } from "../remote/Pages.ts"
import { onlyNamed } from "../remote/Selection.ts"

export const teamsOf = Effect.fn("teamsOf")(function* (workspaceId: WorkspaceId) {
  const { teams } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(teams.list({ params: { workspaceId }, query }), ({ nextCursor, teams: items }) => ({
      items,
      nextCursor
    }))
  )
})

/** Finds a team of a Workspace by id or by name. */
export const teamNamed = Effect.fn("teamNamed")(function* (named: string, workspaceId: WorkspaceId) {
  const all = yield* teamsOf(workspaceId)
  const words = { what: "team", several: "teams", list: "svc team list" }
  return all.find(({ id }) => id === named) ?? (yield* onlyNamed(all, ({ name }) => name, named, words))
})
