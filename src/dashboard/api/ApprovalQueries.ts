import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { approvalsOfRun, approvalsRules, teamsList } from "./Endpoints.ts"
import { everyPage, listPaceMs } from "./Queries.ts"

export const teamsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "teams"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(teamsList, { params: { workspaceId }, query: page, signal }),
        ({ teams }) => teams
      )
  })

export const approvalRulesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "approval-rules"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(approvalsRules, { params: { workspaceId }, query: page, signal }),
        ({ approvalRules }) => approvalRules
      )
  })

export const runApprovalsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "approvals"],
    queryFn: ({ signal }) => call(approvalsOfRun, { params: { runId }, signal }).then(({ approvals }) => approvals),
    refetchInterval: listPaceMs
  })
