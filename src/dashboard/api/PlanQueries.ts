import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { runsChangeCauses, runsSourceChanges } from "./Endpoints.ts"

/** The changes in a Run's commit are fixed; only whether the commits are still stored can change. */
export const sourceChangesQuery = (runId: string) =>
  queryOptions({
    queryKey: ["source-changes", runId],
    queryFn: ({ signal }) =>
      call(runsSourceChanges, { params: { runId }, signal }).then(({ sourceChanges }) => sourceChanges),
    staleTime: Number.POSITIVE_INFINITY
  })

/** The records of a plan and the apply before it never change. */
export const changeCausesQuery = (runId: string) =>
  queryOptions({
    queryKey: ["change-causes", runId],
    queryFn: ({ signal }) =>
      call(runsChangeCauses, { params: { runId }, signal }).then(({ changeCauses }) => changeCauses),
    staleTime: Number.POSITIVE_INFINITY
  })
