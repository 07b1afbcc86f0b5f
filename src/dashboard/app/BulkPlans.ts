import { useState } from "react"
import type { PlanSummary, Run } from "../api/Types.ts"

/** A plan that can be decided in bulk. */
export interface BulkPlan {
  readonly runId: string
  /** The digest of the plan that the person saw. */
  readonly planDigest: string
  readonly name: string
  readonly environment: string | undefined
  readonly summary: PlanSummary
}

type Decidable = Pick<Run, "id" | "type"> & Partial<Pick<Run, "planDigest" | "planSummary">>

/**
 * Returns the plan if it can be decided in bulk: it waits for approval, and destroys, replaces and forgets nothing. The server
 * refuses a plan that needs an acknowledgement, because a bulk decision cannot include an acknowledgement.
 */
export const bulkPlanOf = (
  run: Decidable,
  capsule: { readonly name: string; readonly environment: string } | undefined
): BulkPlan | undefined => {
  const { id, planDigest, planSummary: summary, type } = run
  if (type !== "plan" || planDigest === undefined || summary === undefined) return undefined
  if (summary.destroy + summary.replace + summary.forget > 0) return undefined
  return { runId: id, planDigest, summary, name: capsule?.name ?? id, environment: capsule?.environment }
}

/** Returns the total of the changes in several plans. */
export const sumOfPlans = (plans: ReadonlyArray<BulkPlan>): PlanSummary => {
  const total = { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }
  for (const { summary } of plans) {
    total.add += summary.add
    total.change += summary.change
    total.import += summary.import
  }
  return total
}

/** If all changes in several plans are of the same kind, returns that kind. */
export const onlyVerbOf = ({
  add,
  change,
  import: imported
}: PlanSummary): "create" | "update" | "import" | "none" | undefined => {
  const verbs = [
    ...(add > 0 ? (["create"] as const) : []),
    ...(change > 0 ? (["update"] as const) : []),
    ...(imported > 0 ? (["import"] as const) : [])
  ]
  return verbs.length > 1 ? undefined : (verbs[0] ?? "none")
}

/**
 * The plans on the page that the person has selected. If the digest of a plan has changed since the person selected it, it
 * is no longer selected, because nobody has seen the new plan.
 */
export const useChosenPlans = (offered: ReadonlyArray<BulkPlan>) => {
  const [digests, setDigests] = useState<ReadonlyMap<string, string>>(new Map())
  const chosen = offered.filter(({ planDigest, runId }) => digests.get(runId) === planDigest)
  return {
    offered,
    chosen,
    isChosen: (runId: string) => chosen.some((plan) => plan.runId === runId),
    choose: (plans: ReadonlyArray<BulkPlan>, isChosen: boolean) => {
      const next = new Map(chosen.map(({ planDigest, runId }) => [runId, planDigest]))
      for (const { planDigest, runId } of plans) {
        if (isChosen) next.set(runId, planDigest)
        else next.delete(runId)
      }
      setDigests(next)
    },
    clear: () => setDigests(new Map())
  }
}
export type ChosenPlans = ReturnType<typeof useChosenPlans>
