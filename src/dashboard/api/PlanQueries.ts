import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { runsChangeCauses, runsCost, runsSourceChanges } from "./Endpoints.ts"

/** The diff of a Run's commit. The diff never changes, but may become unavailable, because commits can be removed. */
export const sourceChangesQuery = (runId: string) =>
  queryOptions({
    queryKey: ["source-changes", runId],
    queryFn: ({ signal }) =>
      call(runsSourceChanges, { params: { runId }, signal }).then(({ sourceChanges }) => sourceChanges),
    staleTime: Number.POSITIVE_INFINITY
  })

/** The records of a plan and of the previous apply, which never change. */
export const changeCausesQuery = (runId: string) =>
  queryOptions({
    queryKey: ["change-causes", runId],
    queryFn: ({ signal }) =>
      call(runsChangeCauses, { params: { runId }, signal }).then(({ changeCauses }) => changeCauses),
    staleTime: Number.POSITIVE_INFINITY
  })

/** The cost estimate is read again, because it depends on the server's price list, which the operator may change. */
export const costQuery = (runId: string) =>
  queryOptions({
    queryKey: ["cost", runId],
    queryFn: ({ signal }) => call(runsCost, { params: { runId }, signal }).then(({ cost }) => cost)
  })
