import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { discoveryExtensions } from "./Endpoints.ts"

/** The families of routes that the operator has turned off, by name. They only change when the server restarts. */
export const familiesOffQuery = queryOptions({
  queryKey: ["families-off"],
  queryFn: ({ signal }) =>
    call(discoveryExtensions, { signal }).then(({ extensions }) =>
      extensions.filter(({ enabled }) => !enabled).map(({ name }) => name)
    ),
  staleTime: 600_000
})
