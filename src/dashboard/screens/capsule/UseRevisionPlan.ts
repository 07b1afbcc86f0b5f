import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { newIdempotencyKey, post } from "../../api/Client.ts"
import type { RevisionPlan } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { advance } from "../install/Coordinator.ts"

/** Plans a Capsule at a ref and opens the plan. Pressing again after a lost answer plans once. */
export const useRevisionPlan = (capsuleId: string, onPlanned?: () => void) => {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [key] = useState(newIdempotencyKey)
  return useMutation({
    mutationFn: async (ref: string) => {
      const { revisionPlan } = await post<{ revisionPlan: RevisionPlan }>(
        `/api/v1/capsules/${capsuleId}/revision-plans`,
        { ref },
        { idempotencyKey: `${key}:${ref}` }
      )
      return advance(revisionPlan, (id) =>
        post<{ revisionPlan: RevisionPlan }>(`/api/v1/revision-plans/${id}/reconcile`).then(
          (answer) => answer.revisionPlan
        )
      )
    },
    onSuccess: ({ planRunId }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      onPlanned?.()
      if (planRunId !== undefined)
        void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: planRunId } })
    }
  })
}
