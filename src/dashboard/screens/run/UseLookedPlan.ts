import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import type { Answer } from "../../api/Declarations.ts"
import { capsulesLook, capsulesPlan } from "../../api/Endpoints.ts"
import { Fault } from "../../api/Fault.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { useDecision } from "../../ui/Decision.ts"

export type Look = Answer<typeof capsulesLook>["look"]

/** The cache key for the result of reading the ref before a plan. The result is cached as long as the page is open. */
export const lookKey = (runId: string) => ["look", runId]

/**
 * Reads the ref. If the read fails, the plan is made anyway. If the person cancels the read or has no access, no plan is
 * made.
 */
const look = (capsuleId: string, signal: AbortSignal): Promise<Look | Fault> =>
  call(capsulesLook, { signal, params: { capsuleId } }).then(
    (answer) => answer.look,
    (error: unknown) => {
      if (signal.aborted || !(error instanceof Fault) || error.status === 401 || error.status === 403) throw error
      return error
    }
  )

/** Reads the ref that the Capsule follows, plans its contents, and opens the plan. */
export const useLookedPlan = (capsuleId: string) => {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return useDecision({
    send: async (signal) => {
      const looked = await look(capsuleId, signal)
      const { run } = await call(capsulesPlan, {
        signal,
        params: { capsuleId },
        idempotencyKey: newIdempotencyKey()
      })
      return { run, looked }
    },
    onSuccess: ({ looked, run }) => {
      queryClient.setQueryData(lookKey(run.id), looked)
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
    }
  })
}

/** Returns true if this page requested the plan, and therefore still has the result of reading the ref. */
export const useHasLook = (runId: string): boolean => useQueryClient().getQueryData(lookKey(runId)) !== undefined
