import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { newIdempotencyKey, post } from "../../api/Client.ts"
import type { Capsule, RevisionPlan } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { advance } from "../install/Coordinator.ts"
import { capsuleWords } from "./Words.ts"

export const PlanRevision = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const words = useWords(capsuleWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [ref, setRef] = useState("")
  const [key] = useState(newIdempotencyKey)
  const plan = useMutation({
    mutationFn: async () => {
      const { revisionPlan } = await post<{ revisionPlan: RevisionPlan }>(
        `/api/v1/capsules/${capsule.id}/revision-plans`,
        { ref: ref.trim() },
        { idempotencyKey: `${key}:${ref.trim()}` }
      )
      return advance(revisionPlan, (id) =>
        post<{ revisionPlan: RevisionPlan }>(`/api/v1/revision-plans/${id}/reconcile`).then(
          (answer) => answer.revisionPlan
        )
      )
    },
    onSuccess: ({ planRunId }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      onClose()
      if (planRunId !== undefined)
        void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: planRunId } })
    }
  })
  return (
    <Dialog title={words.planRefTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          plan.mutate()
        }}
      >
        <TextField
          label={words.ref}
          helper={words.planRefText}
          mono
          required
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          value={ref}
          onChange={(event) => setRef(event.target.value)}
        />
        {plan.error === null ? null : <FaultNotice error={plan.error} />}
        <div className="form-actions">
          <Button tone="primary" type="submit" busy={plan.isPending}>
            {words.plan}
          </Button>
          <Button onClick={onClose}>{terms.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}
