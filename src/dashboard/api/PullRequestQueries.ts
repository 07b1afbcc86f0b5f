import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { pullRequestsList, pullRequestsOfCapsule, pullRequestsRead } from "./Endpoints.ts"
import { type Cursor, firstCursor, listPaceMs } from "./Queries.ts"
import type { PullRequest } from "./Types.ts"

interface PullRequestFilter {
  readonly state?: PullRequest["state"] | undefined
  readonly sourceId?: string | undefined
}

export const pullRequestsQuery = (workspaceId: string, filter: PullRequestFilter) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "pull-requests", filter],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(pullRequestsList, { params: { workspaceId }, query: { ...filter, cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor,
    refetchInterval: listPaceMs
  })

export const capsulePullRequestsQuery = (capsuleId: string, state: PullRequestFilter["state"]) =>
  infiniteQueryOptions({
    queryKey: ["capsule", capsuleId, "pull-requests", state],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(pullRequestsOfCapsule, { params: { capsuleId }, query: { state, cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor,
    refetchInterval: listPaceMs
  })

export const pullRequestQuery = (pullRequestId: string) =>
  queryOptions({
    queryKey: ["pull-request", pullRequestId],
    queryFn: ({ signal }) =>
      call(pullRequestsRead, { params: { pullRequestId }, signal }).then(({ pullRequest }) => pullRequest),
    refetchInterval: listPaceMs
  })
