import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { noticesDeliveries, noticesEndpoints, noticesMails } from "./Endpoints.ts"
import { type Cursor, everyPage, firstCursor, listPaceMs } from "./Queries.ts"

/** The endpoints that receive a Workspace's notices. A Workspace has only a few endpoints. */
export const noticeEndpointsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "notice-endpoints"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(noticesEndpoints, { params: { workspaceId }, query: page, signal }),
        ({ endpoints }) => endpoints
      ),
    refetchInterval: listPaceMs
  })

/** The deliveries to an endpoint, newest first. */
export const noticeDeliveriesQuery = (workspaceId: string, endpointId: string) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "notice-endpoints", endpointId, "deliveries"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(noticesDeliveries, { params: { workspaceId, endpointId }, query: { cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor,
    refetchInterval: listPaceMs
  })

/** The kinds of notices that the person receives by email. */
export const noticeMailsQuery = queryOptions({
  queryKey: ["account", "notice-mails"],
  queryFn: ({ signal }) => call(noticesMails, { signal }).then(({ noticeMails }) => noticeMails)
})
