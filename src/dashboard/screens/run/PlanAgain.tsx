import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import {
  capsulesDestroyPlan,
  type capsulesDriftCheck,
  capsulesPlan,
  capsulesReconcilePlan
} from "../../api/Endpoints.ts"
import { revisionPlanQuery } from "../../api/Queries.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, type ButtonTone } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { useRevisionPlan } from "../capsule/UseRevisionPlan.ts"
import { useLookedPlan } from "./UseLookedPlan.ts"
import { decisionWords } from "./DecisionWords.ts"
import { useDecision } from "../../ui/Decision.ts"

type PlanLine = typeof capsulesDestroyPlan | typeof capsulesDriftCheck | typeof capsulesReconcilePlan

const useOpened = (send: (signal: AbortSignal) => Promise<{ readonly run: Pick<Run, "id"> }>) => {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return useDecision({
    send,
    onSuccess: ({ run }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
    }
  })
}

/** Requests a plan or check of the applied commit and opens it. */
export const usePlan = (capsuleId: string, line: PlanLine) =>
  useOpened((signal) => call(line, { signal, params: { capsuleId }, idempotencyKey: newIdempotencyKey() }))

/** Requests a plan that accepts changes made outside svc, and opens it. */
export const useAcceptance = (capsuleId: string) =>
  useOpened((signal) =>
    call(capsulesPlan, {
      signal,
      params: { capsuleId },
      idempotencyKey: newIdempotencyKey(),
      body: { refreshOnly: true }
    })
  )

interface PlanAgainProps {
  readonly capsule: Capsule
  readonly destroy: boolean
  readonly tone?: ButtonTone
  /** The purpose of the void plan. If that plan is about changes made outside svc, the new plan has the same purpose. */
  readonly purpose?: Run["purpose"]
  /** Set if the void plan is a revision plan. In that case, the same revision is planned again. */
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

const TrackedAgain = ({ capsule, destroy, purpose, tone }: PlanAgainProps) => {
  const words = useWords(decisionWords)
  const destruction = usePlan(capsule.id, capsulesDestroyPlan)
  const putBack = usePlan(capsule.id, capsulesReconcilePlan)
  const acceptance = useAcceptance(capsule.id)
  const update = useLookedPlan(capsule.id)
  const plan = destroy
    ? destruction
    : purpose === "reconcile"
      ? putBack
      : purpose === "accept_drift"
        ? acceptance
        : update
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
