import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import { isPlan } from "../../../schema/records/RunTransitions.ts"
import { isSpeculative, type RunRow } from "../run/RunRow.ts"
import type { CapsuleRow } from "./CapsuleRow.ts"
import { authorityMoved } from "./AuthorityColumns.ts"

type Plan = Pick<
  RunRow,
  | "type"
  | "purpose"
  | "status"
  | "used_by_run_id"
  | "approved_at"
  | "expires_at"
  | "execution_authority_epoch"
  | "install_config_id"
  | "base_state_generation"
>

type Capsule = Pick<
  CapsuleRow,
  "status" | "execution_authority_epoch" | "install_config_id" | "current_state_generation"
>

/** The message that refuses a decision about a speculative plan. It explains how to approve the plan's change. */
export const speculativeRefusal = (decision: "approved" | "applied"): ApiError =>
  failedPrecondition(
    `A speculative plan is never ${decision}: it only shows what its ref would change. Approve its change with POST /api/v1/runs/{runId}/change-approvals; the Capsule's lane is planned again after the merge.`
  )

/**
 * Returns the reason why a plan cannot be applied at `at` (ISO 8601), or `undefined` if its row and its Capsule's row allow it.
 * Every apply goes through this check, whether a person, a group or auto-update starts it.
 */
export const applyObstacle = (plan: Plan, capsule: Capsule, at: string): ApiError | undefined => {
  if (!isPlan(plan.type)) return failedPrecondition("Only a plan, destroy plan or restore can be applied.")
  if (isSpeculative(plan)) return speculativeRefusal("applied")
  if (plan.used_by_run_id !== null) {
    return new ApiError({
      code: "run_conflict",
      message: "This plan has been applied already. Each plan is usable once; plan again."
    })
  }
  if (plan.status === "waiting_approval") {
    return failedPrecondition("The plan is not approved yet. Review and approve it first.")
  }
  if (plan.status !== "succeeded" || plan.approved_at === null) {
    return failedPrecondition(`The plan is ${plan.status} and cannot be applied. Plan again.`)
  }
  // Checks the expiry time instead of the status, because the job that expires plans may be late.
  if (plan.expires_at !== null && plan.expires_at <= at) {
    return failedPrecondition("The plan has expired and cannot be applied. Plan again.")
  }
  if (!isInService(capsule.status)) return failedPrecondition(`The Capsule is ${capsule.status}.`)
  if (authorityMoved(plan, capsule)) {
    return new ApiError({
      code: "guard_conflict",
      message: "The Capsule's configuration or state has changed since this plan was made. Plan again."
    })
  }
  return undefined
}
