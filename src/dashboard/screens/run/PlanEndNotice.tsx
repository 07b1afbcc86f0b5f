import { useInfiniteQuery } from "@tanstack/react-query"
import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import { runsQuery } from "../../api/Queries.ts"
import type { Run } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import type { PlanEnd } from "./PlanEnd.ts"
import { planEndWords } from "./PlanEndWords.ts"

/** The Capsule's newest plan, if it is newer than this plan. */
const useNewerPlan = (run: Run): Run | undefined => {
  const workspace = useWorkspace()
  const { data } = useInfiniteQuery({
    ...runsQuery(workspace.id, run.capsuleId === undefined ? {} : { capsuleId: run.capsuleId }),
    enabled: run.capsuleId !== undefined
  })
  return data?.pages
    .flatMap(({ runs }) => runs)
    .find(({ createdAt, id, type }) => isPlan(type) && id !== run.id && createdAt > run.createdAt)
}

/** Links a replaced plan to its replacement. */
export const NewerPlan = ({ run }: { readonly run: Run }) => {
  const words = useWords(planEndWords)
  const workspace = useWorkspace()
  const newer = useNewerPlan(run)
  return newer === undefined ? null : (
    <LinkButton small to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: newer.id }}>
      {words.newer}
    </LinkButton>
  )
}

/**
 * Shows the reason immediately, even if the person is still reading the plan, because the server would refuse any further
 * action on it.
 */
export const PlanEndNotice = ({
  run,
  end,
  reason
}: {
  readonly run: Run
  readonly end: PlanEnd
  /** The reason that the server recorded. */
  readonly reason: string | undefined
}) => {
  const words = useWords(planEndWords)
  return (
    <div role="alert" data-testid="plan-end">
      <Notice tone="warn" title={words.title}>
        <p>{words.reasons[end]}</p>
        {reason === undefined ? null : <p>{reason}</p>}
        <NewerPlan run={run} />
      </Notice>
    </div>
  )
}
