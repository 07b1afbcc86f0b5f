import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { agentPoolsAgents, agentPoolsList } from "./Endpoints.ts"
import { type Cursor, everyPage, firstCursor, listPaceMs } from "./Queries.ts"

/** The pools that a Workspace may use. A Workspace has only a few pools. */
export const agentPoolsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "agent-pools"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(agentPoolsList, { params: { workspaceId }, query: page, signal }),
        ({ agentPools }) => agentPools
      ),
    refetchInterval: listPaceMs
  })

export const agentsQuery = (workspaceId: string, pool: string) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "agents", pool],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(agentPoolsAgents, { params: { workspaceId }, query: { pool, cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor,
    refetchInterval: listPaceMs
  })
