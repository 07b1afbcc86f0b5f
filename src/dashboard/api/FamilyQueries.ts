import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { discoveryExtensions } from "./Endpoints.ts"

/** The names of the route families that the operator has disabled. They change only when the server restarts. */
export const familiesOffQuery = queryOptions({
  queryKey: ["families-off"],
  queryFn: ({ signal }) =>
    call(discoveryExtensions, { signal }).then(({ extensions }) =>
      extensions.filter(({ enabled }) => !enabled).map(({ name }) => name)
    ),
  staleTime: 600_000
})
