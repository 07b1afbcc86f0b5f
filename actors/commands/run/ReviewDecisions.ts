import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { isPlan } from "../../../schema/records/RunTransitions.ts"
import { speculativeRefusal } from "../../ledger/capsule/ApplyObstacle.ts"
import { isSpeculative, type RunRow } from "../../ledger/run/RunRow.ts"

/** Returns the reason why a plan is not waiting for approval. */
const unapprovable = ({ approved_at, status }: Pick<RunRow, "approved_at" | "status">): string => {
  // A plan may still have this status after its expiry, because the job that expires plans may be late.
  if (status === "waiting_approval") return "has expired"
  return status === "succeeded" && approved_at !== null ? "is approved already" : `is ${status}`
}

/**
 * Returns the reason why a Run cannot be approved at `at` (ISO 8601), or `undefined` if it can be. A person may send the
 * digest of the plan that they reviewed. `isShort`: the plan is approved but not applied, and one of its approvals has
 * lapsed, so the plan needs another approval.
 */
export const approvalRefusal = (
  run: Pick<RunRow, "type" | "purpose" | "status" | "plan_digest" | "approved_at" | "expires_at">,
  reviewedDigest: string | undefined,
  at: string,
  isShort = false
): ApiError | undefined => {
  if (!isPlan(run.type)) return failedPrecondition("Only a plan, destroy plan or restore is approved.")
  if (isSpeculative(run)) return speculativeRefusal("approved")
  if (reviewedDigest !== undefined && reviewedDigest !== run.plan_digest) {
    return new ApiError({
      code: "guard_conflict",
      message: "The plan digest is not that of this Run: it is not the plan that was reviewed."
    })
  }
  if ((run.status !== "waiting_approval" && !isShort) || (run.expires_at !== null && run.expires_at <= at)) {
    return failedPrecondition(`Only a plan that waits for approval can be approved; this one ${unapprovable(run)}.`)
  }
  return undefined
}

/**
 * The effect of cancelling a Run. If the Run has not started or is waiting for review, the cancellation withdraws it. If the
 * Run is running, it is asked to stop. If the Run is an approved plan, the approval is withdrawn. Any other Run has already
 * ended.
 */
export type CancelStep = "withdraw" | "request" | "withdraw_approval" | "ended"

export const cancelStep = ({ approved_at, status }: Pick<RunRow, "approved_at" | "status">): CancelStep => {
  if (status === "queued" || status === "waiting_approval") return "withdraw"
  if (status === "running") return "request"
  return status === "succeeded" && approved_at !== null ? "withdraw_approval" : "ended"
}
