import { infiniteQueryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { dashboardNeeds } from "./Endpoints.ts"
import { type Cursor, firstCursor, listPaceMs } from "./Queries.ts"

/**
 * The records that need a person's attention, most urgent first. An early request fetches the first page, so this query must
 * have the same address, without further parameters.
 */
export const needsQuery = (workspaceId: string) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "needs"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) => call(dashboardNeeds, { query: { workspaceId, cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor,
    refetchInterval: listPaceMs
  })
