import { acceptWithinSeconds } from "../../../schema/agent/AgentJob.ts"
import { seconds } from "../../base/MonotonicNow.ts"
import { applySeconds } from "../agent-pool/EarlierLeases.ts"
import type { Lease } from "./AgentLeases.ts"

/** Time without contact after which an agent is considered unreachable. */
export const unreachableAfter = seconds(30)
const acceptWithin = seconds(acceptWithinSeconds)
/** Time without contact after which svc gives up Runs that change nothing, and applies whose tool has not started. */
const unstartedGivenUpAfter = seconds(60)

const applyGivenUpAfter = (leaseSeconds: number): bigint => seconds(applySeconds(leaseSeconds))

/** Returns how long an agent may be silent before its Run is given up. */
export const givenUpAfter = (kind: Lease["kind"], isStarted: boolean, leaseSeconds: number): bigint =>
  kind === "apply" && isStarted ? applyGivenUpAfter(leaseSeconds) : unstartedGivenUpAfter

/** Decides how to handle a Run whose agent is silent. */
export const verdictOn = (
  { heardAt, isAccepted, isUnreachable, kind, leaseSeconds }: Lease,
  at: bigint
): "nothing" | "offer_again" | "unreachable" | "give_up" | "give_up_unstarted" => {
  const silent = at - heardAt
  if (!isAccepted) return silent > acceptWithin ? "offer_again" : "nothing"
  if (silent > givenUpAfter(kind, true, leaseSeconds)) return "give_up"
  if (kind === "apply" && silent > unstartedGivenUpAfter) return "give_up_unstarted"
  return silent > unreachableAfter && !isUnreachable ? "unreachable" : "nothing"
}
