import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { newIdempotencyKey, post } from "../../api/Client.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, type ButtonTone } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { decisionWords } from "./DecisionWords.ts"

/** Asks for a new plan of a Capsule and opens it. */
export const usePlan = (capsuleId: string, kind: "plan" | "destroy-plan" | "drift-check" | "reconcile-plan") => {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () =>
      post<{ run: Run }>(`/api/v1/capsules/${capsuleId}/${kind}`, {}, { idempotencyKey: newIdempotencyKey() }),
    onSuccess: ({ run }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
    }
  })
}

interface PlanAgainProps {
  readonly capsule: Capsule
  readonly destroy: boolean
  readonly tone?: ButtonTone
}

export const PlanAgain = ({ capsule, destroy, tone = "primary" }: PlanAgainProps) => {
  const words = useWords(decisionWords)
  const may = useMay()
  const plan = usePlan(capsule.id, destroy ? "destroy-plan" : "plan")
  if (!may("member") || !isInService(capsule.status)) return null
  return (
    <>
      <Button tone={tone} icon="refresh" busy={plan.isPending} onClick={() => plan.mutate()}>
        {words.runAgain}
      </Button>
      {plan.error === null ? null : <FaultNotice error={plan.error} />}
    </>
  )
}
