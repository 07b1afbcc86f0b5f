import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { capsulesDestroyPlan, type capsulesDriftCheck, type capsulesReconcilePlan } from "../../api/Endpoints.ts"
import { revisionPlanQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, type ButtonTone } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { useRevisionPlan } from "../capsule/UseRevisionPlan.ts"
import { useLookedPlan } from "./Look.tsx"
import { decisionWords } from "./DecisionWords.ts"
import { useDecision } from "../../ui/Decision.ts"

type PlanLine = typeof capsulesDestroyPlan | typeof capsulesDriftCheck | typeof capsulesReconcilePlan

/** Requests a plan or check of the applied commit, and opens it. */
export const usePlan = (capsuleId: string, line: PlanLine) => {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return useDecision({
    send: (signal) => call(line, { signal, params: { capsuleId }, idempotencyKey: newIdempotencyKey() }),
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
  /** Set if the plan is for a different revision, which is then planned again. */
  readonly revisionPlanId?: string | undefined
}

const RevisionAgain = ({ capsule, revisionPlanId, tone }: PlanAgainProps & { readonly revisionPlanId: string }) => {
  const words = useWords(decisionWords)
  const { data } = useQuery(revisionPlanQuery(revisionPlanId))
  const plan = useRevisionPlan(capsule.id)
  if (data === undefined) return null
  return (
    <>
      <Button tone={tone ?? "primary"} icon="refresh" busy={plan.isPending} onClick={() => plan.mutate(data.ref)}>
        {words.revisionAgain(data.ref)}
      </Button>
      {plan.error === null ? null : <FaultNotice error={plan.error} />}
    </>
  )
}

const TrackedAgain = ({ capsule, destroy, tone }: PlanAgainProps) => {
  const words = useWords(decisionWords)
  const destruction = usePlan(capsule.id, capsulesDestroyPlan)
  const update = useLookedPlan(capsule.id)
  const plan = destroy ? destruction : update
  return (
    <>
      <Button tone={tone ?? "primary"} icon="refresh" busy={plan.isPending} onClick={() => plan.mutate()}>
        {words.runAgain}
      </Button>
      {plan.error === null ? null : <FaultNotice error={plan.error} />}
    </>
  )
}

/** The next step after a plan has become void. */
export const PlanAgain = ({ revisionPlanId, ...asked }: PlanAgainProps) => {
  const may = useMay()
  if (!may("member") || !isInService(asked.capsule.status)) return null
  return revisionPlanId === undefined ? (
    <TrackedAgain {...asked} />
  ) : (
    <RevisionAgain {...asked} revisionPlanId={revisionPlanId} />
  )
}
