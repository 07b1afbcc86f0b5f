import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { advance, call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { revisionPlansCreate, revisionPlansReconcile } from "../../api/Endpoints.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { useDecision } from "../../ui/Decision.ts"

/** Plans a Capsule at a ref and opens the plan. A second press after a lost response does not create a second plan. */
export const useRevisionPlan = (capsuleId: string, onPlanned?: () => void) => {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [key] = useState(newIdempotencyKey)
  return useDecision({
    send: async (signal, ref: string) => {
      const { revisionPlan } = await call(revisionPlansCreate, {
        signal,
        params: { capsuleId },
        body: { ref },
        idempotencyKey: `${key}:${ref}`
      })
      return advance(revisionPlan, (id) =>
        call(revisionPlansReconcile, { signal, params: { revisionPlanId: id } }).then((answer) => answer.revisionPlan)
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
