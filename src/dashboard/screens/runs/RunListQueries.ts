import { queryOptions } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { workspacesProjects, workspacesRunFacets } from "../../api/Endpoints.ts"
import { listPaceMs } from "../../api/Queries.ts"

/** Counts the Runs that match the filter, and the Runs that would match if one choice were different. */
export const runFacetsQuery = (workspaceId: string, filter: Readonly<Record<string, string>>) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "run-facets", filter],
    queryFn: ({ signal }) =>
      call(workspacesRunFacets, { params: { workspaceId }, query: filter, signal }).then(({ facets }) => facets),
    refetchInterval: listPaceMs
  })

export const projectsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "projects"],
    queryFn: ({ signal }) =>
      call(workspacesProjects, { params: { workspaceId }, signal }).then(({ projects }) => projects),
    staleTime: 60_000
  })
