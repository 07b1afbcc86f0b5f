import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { newIdempotencyKey, post } from "../../api/Client.ts"
import type { Capsule, RevisionPlan } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { useWords } from "../../words/Words.ts"
import { advance } from "../install/Coordinator.ts"
import { capsuleWords } from "./Words.ts"

export const PlanRevision = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const words = useWords(capsuleWords)
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
    <FormDialog
      title={words.planRefTitle}
      action={words.plan}
      change={plan}
      onSubmit={() => plan.mutate()}
      onClose={onClose}
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
    </FormDialog>
  )
}
