import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { membersDeparture, membersTokens, workspacesProjects } from "./Endpoints.ts"
import { everyPage } from "./Queries.ts"

export const automationTokensQuery = (workspaceId: string, subject: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "members", subject, "tokens"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(membersTokens, { params: { workspaceId, subject }, query: page, signal }),
        ({ tokens }) => tokens
      )
  })

/** The response is never taken from the cache, because people base a decision on it. */
export const departureQuery = (workspaceId: string, subject: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "members", subject, "departure"],
    queryFn: ({ signal }) =>
      call(membersDeparture, { params: { workspaceId, subject }, signal }).then(({ departure }) => departure),
    staleTime: 0
  })

export const projectsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "projects"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(workspacesProjects, { params: { workspaceId }, query: page, signal }),
        ({ projects }) => projects
      )
  })
