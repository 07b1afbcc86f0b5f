import type { ResourceChange } from "../../../schema/records/PlanDetails.ts"
import type { Run, RunStatus } from "../../../schema/records/Run.ts"
import type { CapsuleVerdict, PullRequestRisk } from "../../../schema/records/PullRequest.ts"

interface ReportedPlan {
  readonly status: RunStatus
  /** True if applying the plan would change anything. */
  readonly changes: boolean
}

/** The facts that determine a Capsule's verdict. */
export interface CapsuleFacts {
  /** The latest speculative plan of the head. */
  readonly speculative: ReportedPlan | undefined
  /** True if svc may not plan the head. */
  readonly isRefused: boolean
  /** True if enough people have approved the change in the pull request. */
  readonly isApproved: boolean
  readonly isMerged: boolean
  /** The lane's plan after the merge. */
  readonly plan: (ReportedPlan & { readonly differs: boolean }) | undefined
  /** The latest apply of that plan. */
  readonly apply: RunStatus | undefined
  /** The result of comparing the plan with the approved change, for a commit that a merge queue is testing. */
  readonly queued?: "approved" | "differs" | "unapproved" | undefined
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

/** The verdict on a plan with changes for a commit that a merge queue tests. */
export const verdictOfQueued = { approved: "approved", differs: "differs", unapproved: "needs_approval" } as const

const ofProposal = ({ isApproved, isRefused, queued, speculative }: CapsuleFacts): CapsuleVerdict => {
  if (speculative === undefined) return isRefused ? "refused" : "planning"
  const unreviewable = ofUnreviewable(speculative.status)
  if (unreviewable !== undefined) return unreviewable
  if (!speculative.changes) return "unchanged"
  if (queued !== undefined) return verdictOfQueued[queued]
  return isApproved ? "approved" : "planned"
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
  if (!plan.changes) return "unchanged"
  return plan.differs ? "differs" : "needs_approval"
}

/**
 * Returns the verdict on a Capsule. Before the merge, it depends on the speculative plan; after the merge, on the lane's plan and
 * apply.
 */
export const capsuleVerdict = (facts: CapsuleFacts): CapsuleVerdict =>
  facts.isMerged ? ofLane(facts) : ofProposal(facts)

/** Returns the files for which a plan would revert newer contents of the base. */
export const undoneBy = (base: Run["base"]): ReadonlyArray<PullRequestRisk> =>
  (base?.standing === "stale" ? (base.undoneFiles ?? []) : []).map((address) => ({ kind: "undoes", address }))

/** Returns the distance from the base: the largest number of base commits missing from a plan. */
export const behindText = (bases: ReadonlyArray<Run["base"]>): string | undefined => {
  const behind = Math.max(0, ...bases.map((base) => base?.behind ?? 0))
  return behind === 0 ? undefined : `${behind} ${behind === 1 ? "commit" : "commits"} behind`
}

/** Returns the changes that remove an existing object. */
export const risksOf = (
  changes: ReadonlyArray<Pick<ResourceChange, "actions" | "address">>
): ReadonlyArray<PullRequestRisk> =>
  changes.flatMap(({ actions, address }): ReadonlyArray<PullRequestRisk> => {
    if (actions.includes("forget")) return [{ kind: "forgets", address }]
    if (!actions.includes("delete")) return []
    return [{ kind: actions.includes("create") ? "replaces" : "destroys", address }]
  })
