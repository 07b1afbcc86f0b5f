import { Deferred, Effect } from "effect"
import type { HeldRun, RunClaim } from "../../schema/agent/AgentJob.ts"
import type { Gone } from "../../schema/agent/AgentRefusal.ts"
import type { Lease } from "./LeaseClock.ts"
import type { AgentRunFolder } from "./AgentRunFolder.ts"
import type { Spool } from "./Spool.ts"

/** The instruction that the server sent when it took a Run from this agent. */
export type Ended = "hand_in" | "discard"

/**
 * A Run that this agent holds, as seen by its session.
 *
 * - `lease`: absent for a Run that a previous process left unfinished, because nothing is running
 * - `isAccepted`: the server has recorded that this agent accepted the Run; before that, the lease is the offer's lease and
 *   is not renewed
 * - `confirmed`: the server has confirmed that the Run still belongs to this agent
 * - `ended`: the server has taken the Run from this agent
 * - `stopped`: the Run's tool has exited
 * - `reported`: completes when the report in progress has been sent
 */
export interface RunHandle {
  readonly room: AgentRunFolder
  readonly spool: Spool
  readonly lease: Lease | undefined
  readonly cancelled: Deferred.Deferred<void>
  readonly confirmed: Deferred.Deferred<void>
  readonly ended: Deferred.Deferred<Ended>
  readonly stopped: Deferred.Deferred<void>
  stage: HeldRun["stage"]
  isAccepted: boolean
  newestSerial: number | undefined
  reported: Effect.Effect<void, Gone>
}

export const makeHandle = Effect.fnUntraced(function* (
  given: Pick<RunHandle, "room" | "spool" | "lease" | "stage">
): Effect.fn.Return<RunHandle> {
  return {
    ...given,
    isAccepted: false,
    newestSerial: undefined,
    reported: Effect.void,
    cancelled: yield* Deferred.make<void>(),
    confirmed: yield* Deferred.make<void>(),
    ended: yield* Deferred.make<Ended>(),
    stopped: yield* Deferred.make<void>()
  }
})

export const heldRun = ({ room, stage }: RunHandle): HeldRun => ({ ...room.claim, stage })

export const isSameClaim = (one: RunClaim, other: RunClaim): boolean =>
  one.runId === other.runId && one.fence === other.fence
