import { useQueryClient } from "@tanstack/react-query"
import { useRouter } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { workspacesPlanUpdate } from "../../api/Endpoints.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { attentionWords } from "./AttentionWords.ts"
import { useDecision } from "../../ui/Decision.ts"

interface PlanTogetherProps {
  readonly capsuleIds: ReadonlyArray<string>
  /** True if this update would supersede an open update. */
  readonly replaces: boolean
}

/** Plans, in a single update, all Capsules that wait for the same commit. Nothing is applied without approval. */
export const PlanTogether = ({ capsuleIds, replaces }: PlanTogetherProps) => {
  const words = useWords(attentionWords)
  const workspace = useWorkspace()
  const may = useMay()
  const router = useRouter()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const plan = useDecision({
    send: (signal) =>
      call(workspacesPlanUpdate, {
        signal,
        params: { workspaceId: workspace.id },
        body: { capsuleIds: [...capsuleIds] }
      }),
    onSuccess: ({ runGroup }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      void router.navigate({
        to: "/w/$workspace/updates/$groupId",
        params: { workspace: workspace.handle, groupId: runGroup.id }
      })
    }
  })
  if (!may("member")) return null
  return (
    <>
      <Button small busy={plan.isPending} onClick={() => (replaces ? setAsking(true) : plan.mutate())}>
        {words.planAll(capsuleIds.length)}
      </Button>
      {plan.error === null || asking ? null : (
        <div className="need-fault">
          <FaultNotice error={plan.error} />
        </div>
      )}
      {asking ? (
        <ConfirmDialog
          title={words.replaceTitle}
          action={words.replace}
          change={plan}
          onConfirm={() => plan.mutate()}
          onClose={() => setAsking(false)}
        >
          {words.replaceText}
        </ConfirmDialog>
      ) : null}
    </>
  )
}
