import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { workspacesRuns } from "../../api/Endpoints.ts"
import type { AuditEvent, Run } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { beginOfDay, dayOf } from "../../words/Days.ts"

const none: ReadonlyArray<Run> = []

/**
 * The Runs since the day of the oldest event shown, at most a hundred: they show what a plan does and which syncs found nothing
 * new. Events from older Runs lack these details.
 */
export const useActivityRuns = (events: ReadonlyArray<AuditEvent>): ReadonlyArray<Run> => {
  const workspace = useWorkspace()
  const oldest = events.at(-1)
  const since = oldest === undefined ? undefined : beginOfDay(dayOf(oldest.createdAt))
  const query = useQuery<ReadonlyArray<Run>>({
    queryKey: ["workspace", workspace.id, "activity-runs", since],
    queryFn: ({ signal }) =>
      call(workspacesRuns, {
        params: { workspaceId: workspace.id },
        query: { since: since ?? "", limit: "100" },
        signal
      }).then(({ runs }) => runs),
    enabled: since !== undefined && events.some(({ runId }) => runId !== undefined),
    placeholderData: keepPreviousData
  })
  return query.data ?? none
}
