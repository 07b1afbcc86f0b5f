import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { commentsList } from "./Endpoints.ts"
import { everyPage } from "./Queries.ts"

/**
 * Interval at which comments are read again. A Run's stream ends with the Run, but people may still add comments afterwards.
 */
const commentPaceMs = 10_000

export const commentsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "comments"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(commentsList, { params: { runId }, query: page, signal }),
        ({ comments }) => comments
      ),
    refetchInterval: commentPaceMs
  })
