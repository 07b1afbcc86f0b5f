import { Link } from "@tanstack/react-router"
import type { Run } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { FailureReason } from "../../ui/FailureReason.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { installWords } from "./Words.ts"

/** Why a repository could not be read, after a failed sync. */
export const ReadFailure = ({
  run,
  kept = true
}: {
  readonly run: Run | undefined
  /** Whether its Source is still there: it was before, or cannot be removed. */
  readonly kept?: boolean
}) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  if (run?.status !== "failed" && run?.status !== "cancelled") return null
  return (
    <Notice tone="bad" title={words.readFailed}>
      <FailureReason error={run.error} />
      {kept ? null : <p>{words.removed}</p>}
      <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: run.id }}>
        {words.openRun}
      </Link>
    </Notice>
  )
}
