import "../../app/Kit.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useEffect } from "react"
import { sourceQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Run } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { FailureReason } from "../../ui/FailureReason.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { installWords } from "./Words.ts"

/**
 * Returns true if the server has removed the Source after a failed read. The server removes it just after the Run finishes.
 */
const useIsRemoved = (sourceId: string | undefined): boolean => {
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const { data: removed = false } = useQuery({
    ...sourceQuery(sourceId ?? ""),
    // Read the Source again, because another page may have loaded the Source before it was removed.
    staleTime: 0,
    enabled: sourceId !== undefined,
    select: ({ removedAt }) => removedAt !== undefined,
    // A Source that existed before this read is not removed, so stop polling after a few attempts.
    refetchInterval: ({ state }) => (state.data?.removedAt === undefined && state.dataUpdateCount < 8 ? 600 : false)
  })
  useEffect(() => {
    if (removed) void queryClient.invalidateQueries({ queryKey: sourcesQuery(workspace.id).queryKey })
  }, [removed, queryClient, workspace.id])
  return removed
}

/** The reason why a repository could not be read after a failed sync. */
export const ReadFailure = ({ run }: { readonly run: Run }) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const removed = useIsRemoved(run.sourceId)
  return (
    <Notice tone="bad" title={words.readFailed}>
      <FailureReason error={run.error} />
      {removed ? <p>{words.removed}</p> : null}
      <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: run.id }}>
        {words.openRun}
      </Link>
    </Notice>
  )
}
