import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import type { Capsule, Run } from "../../api/Types.ts"

/** The reason why a plan can no longer be approved or applied. */
export type PlanEnd =
  | "superseded"
  | "expired"
  | "withdrawn"
  | "discarded"
  | "failed"
  | "applied"
  | "capsule_ended"
  | "moved"
  | "lapsed"

type Standing = Pick<Run, "status" | "approvedAt" | "expiresAt" | "executionAuthorityEpoch" | "baseStateGeneration">
type Guarded = Pick<Capsule, "status" | "executionAuthorityEpoch" | "currentStateGeneration">

const isPast = (now: number | undefined, recorded: number | undefined): boolean =>
  now !== undefined && recorded !== undefined && now > recorded

const endedBy: Readonly<Partial<Record<Run["status"], PlanEnd>>> = {
  superseded: "superseded",
  expired: "expired",
  failed: "failed"
}

/**
 * Returns the reason why a decision on the displayed plan is no longer possible, or `undefined` if a decision is still
 * possible. The server makes the decision; this check only prevents requests that the server would refuse. A plan that has
 * expired by the browser's clock is shown as expired before the server reports it.
 */
export const planEndOf = (
  run: Standing,
  {
    capsule,
    isApplied,
    now
  }: { readonly capsule: Guarded | undefined; readonly isApplied: boolean; readonly now: number }
): PlanEnd | undefined => {
  if (isApplied) return "applied"
  if (run.status === "cancelled") return run.approvedAt === undefined ? "discarded" : "withdrawn"
  const end = endedBy[run.status]
  if (end !== undefined) return end
  if (run.status === "waiting_approval" && run.expiresAt !== undefined && Date.parse(run.expiresAt) <= now)
    return "expired"
  if (capsule !== undefined && isEnded(capsule.status)) return "capsule_ended"
  // Both numbers only ever increase. If the Capsule's numbers are lower, the page read the Capsule before the plan, so this
  // check ignores the Capsule.
  return isPast(capsule?.executionAuthorityEpoch, run.executionAuthorityEpoch) ||
    isPast(capsule?.currentStateGeneration, run.baseStateGeneration)
    ? "moved"
    : undefined
}
