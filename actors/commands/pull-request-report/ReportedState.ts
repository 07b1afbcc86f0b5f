import { changesSomething, type ResourceChange } from "../../../schema/records/PlanDetails.ts"
import type { Run, RunStatus } from "../../../schema/records/Run.ts"
import type { CapsuleVerdict, ReportedRisk } from "./PullRequestComment.ts"

type ReportedPlan = Pick<Run, "status" | "outputChanges" | "resourceChanges">

/** The facts from which a Capsule's verdict follows. */
export interface CapsuleFacts {
  /** The latest speculative plan for the head. */
  readonly speculative: ReportedPlan | undefined
  /** True if svc may not plan the head. */
  readonly isRefused: boolean
  /** Number of people who approved the change in the pull request. */
  readonly approvals: number
  readonly isMerged: boolean
  /** After the merge: the plan of the lane. */
  readonly plan: (ReportedPlan & { readonly differs: boolean }) | undefined
  /** The latest apply of that plan. */
  readonly apply: RunStatus | undefined
}

/** Returns the verdict on a plan that cannot be reviewed, or `undefined` if it can be. */
const ofUnreviewable = (status: RunStatus): CapsuleVerdict | undefined => {
  switch (status) {
    case "queued":
    case "running":
      return "planning"
    case "failed":
      return "failed"
    case "cancelled":
    case "superseded":
    case "expired":
      return "superseded"
    case "waiting_approval":
    case "succeeded":
      return undefined
  }
}

const ofProposal = ({ approvals, isRefused, speculative }: CapsuleFacts): CapsuleVerdict => {
  if (speculative === undefined) return isRefused ? "refused" : "planning"
  const unreviewable = ofUnreviewable(speculative.status)
  if (unreviewable !== undefined) return unreviewable
  if (!changesSomething(speculative)) return "unchanged"
  return approvals > 0 ? "approved" : "planned"
}

const ofApply = (apply: RunStatus): CapsuleVerdict => {
  if (apply === "succeeded") return "applied"
  return apply === "queued" || apply === "running" ? "approved" : "failed"
}

const ofLane = ({ apply, plan }: CapsuleFacts): CapsuleVerdict => {
  if (plan === undefined) return "planning"
  if (apply !== undefined) return ofApply(apply)
  const unreviewable = ofUnreviewable(plan.status)
  if (unreviewable !== undefined) return unreviewable
  if (plan.status === "succeeded") return "approved"
  if (!changesSomething(plan)) return "unchanged"
  return plan.differs ? "differs" : "needs_approval"
}

/** Returns the verdict on a Capsule: of its speculative plan, and after the merge of the plan and apply of its lane. */
export const capsuleVerdict = (facts: CapsuleFacts): CapsuleVerdict =>
  facts.isMerged ? ofLane(facts) : ofProposal(facts)

/** Returns the files whose newer contents in the base a plan would undo. */
export const undoneBy = (base: Run["base"]): ReadonlyArray<ReportedRisk> =>
  (base?.standing === "stale" ? (base.undoneFiles ?? []) : []).map((address) => ({ kind: "undoes", address }))

/** Returns the age of the base: the largest number of commits that a plan lacks. */
export const behindText = (bases: ReadonlyArray<Run["base"]>): string | undefined => {
  const behind = Math.max(0, ...bases.map((base) => base?.behind ?? 0))
  return behind === 0 ? undefined : `${behind} ${behind === 1 ? "commit" : "commits"} behind`
}

/** Returns the changes that remove something that exists. */
export const risksOf = (
  changes: ReadonlyArray<Pick<ResourceChange, "actions" | "address">>
): ReadonlyArray<ReportedRisk> =>
  changes.flatMap(({ actions, address }): ReadonlyArray<ReportedRisk> => {
    if (actions.includes("forget")) return [{ kind: "forgets", address }]
    if (!actions.includes("delete")) return []
    return [{ kind: actions.includes("create") ? "replaces" : "destroys", address }]
  })
