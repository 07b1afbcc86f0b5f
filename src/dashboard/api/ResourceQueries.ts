import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { stateResourcesHistory, stateResourcesList } from "./Endpoints.ts"
import type { StateResource } from "./Types.ts"

type Cursor = string | undefined

// This is a function, because TypeScript would narrow a constant `undefined` and then reject later pages.
const firstCursor = (): Cursor => undefined

/**
 * The resources in a Capsule's state whose address, type or id contains the text. The key includes the state, so an apply
 * refreshes the list.
 */
export const resourcesQuery = (capsuleId: string, stateVersionId: string | undefined, search: string) =>
  infiniteQueryOptions({
    queryKey: ["capsule", capsuleId, "resources", stateVersionId, search],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: "100", cursor: pageParam, ...(search === "" ? {} : { search }) }
      return call(stateResourcesList, { params: { capsuleId }, query, signal })
    },
    getNextPageParam: (page): Cursor => page.nextCursor,
    placeholderData: keepPreviousData
  })

/** The changes of one resource, newest first. */
export const resourceHistoryQuery = (
  capsuleId: string,
  stateVersionId: string | undefined,
  { address, deposed }: Pick<StateResource, "address" | "deposed">
) =>
  infiniteQueryOptions({
    queryKey: ["capsule", capsuleId, "resource-history", stateVersionId, address, deposed],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) => {
      const query = { address, limit: "20", cursor: pageParam, ...(deposed === undefined ? {} : { deposed }) }
      return call(stateResourcesHistory, { params: { capsuleId }, query, signal })
    },
    getNextPageParam: (page): Cursor => page.nextCursor
  })
