import type { PullRequest } from "../../../../src/dashboard/api/Types.ts"
import { me } from "../records/People.ts"
import { without } from "../records/Seeds.ts"
import { type Answer, type Asked, missing, ok, refuse, textField } from "./Answer.ts"
import type { World } from "./World.ts"

/** Lists omit the review and the Capsules. */
export const pullRequestList = (world: World, query: URLSearchParams, capsuleId?: string): Answer => {
  const state = query.get("state")
  const touches = ({ capsules = [] }: PullRequest) =>
    capsuleId === undefined || capsules.some((each) => each.capsuleId === capsuleId && each.touched)
  const found = world.pullRequests.filter((each) => (state === null || each.state === state) && touches(each))
  return ok({ pullRequests: found.map((each) => without(each, "review", "capsules", "report")) })
}

export const pullRequestRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  const pullRequest = world.pullRequests.find((each) => each.id === id)
  if (pullRequest === undefined) return missing
  if (action === undefined) return ok({ pullRequest })
  const commit = textField(asked.body, "commit") ?? ""
  if (commit !== pullRequest.headCommit) return refuse(409, "guard_conflict", "The head has moved.")
  const planned: PullRequest = {
    ...pullRequest,
    planned: { commit, by: me, at: new Date().toISOString() },
    counts: { planning: 1 },
    capsules: (pullRequest.capsules ?? []).map((each) => ({ ...without(each, "refusal"), verdict: "planning" }))
  }
  world.pullRequests = world.pullRequests.map((each) => (each.id === id ? planned : each))
  return ok({ pullRequest: planned })
}
