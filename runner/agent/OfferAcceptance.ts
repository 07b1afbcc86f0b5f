import { Deferred, Effect, Fiber, type Scope } from "effect"
import type { Gone } from "../../schema/agent/AgentRefusal.ts"
import type { RunFileFailed } from "../execution/RunFiles.ts"
import { Guard, type GuardUnavailable } from "./guard/Guard.ts"
import { type Lease, machineClocks, momentOf } from "./LeaseClock.ts"
import type { RunHandle } from "./RunHandle.ts"
import { ServerConnection } from "./ServerConnection.ts"

/** Seconds of an offer's lease that must remain before processes may start under it. */
const leastOfOffer = 10

/**
 * An offer that is being accepted.
 *
 * - `mayStart`: the guard has recorded the deadline by which the Run's processes must be dead; while the offer is fresh,
 *   this is before the server would offer the Run again, so a plan or drift check does not wait for the acceptance
 * - `accepted`: the server has recorded that this agent accepted the Run, and the lease begins
 * - `begun`: completes after `mayStart` and `accepted`, or fails with the reason why one of them cannot complete
 */
export interface OfferAcceptance {
  readonly mayStart: Effect.Effect<void>
  readonly accepted: Effect.Effect<void>
  readonly begun: Effect.Effect<void, Gone | GuardUnavailable | RunFileFailed>
}

/** Accepts an offer on which work has already begun. */
export const acceptOffer = Effect.fnUntraced(function* (
  handle: RunHandle,
  lease: Lease,
  leaseSeconds: number
): Effect.fn.Return<OfferAcceptance, never, Guard | ServerConnection | Scope.Scope> {
  const { room } = handle
  const guard = yield* Guard
  const line = yield* ServerConnection
  const scope = yield* Effect.scope
  const mayStart = yield* Deferred.make<void>()
  const accepted = yield* Deferred.make<void>()
  const hold = Effect.suspend(() => guard.hold(room.runFolder, lease.killAtBoot())).pipe(
    Effect.andThen(Deferred.succeed(mayStart, undefined))
  )
  yield* Effect.addFinalizer(() => guard.release(room.runFolder))
  // Make an apply wait until it has been accepted. Otherwise the apply would fail if its first processes were killed because
  // the offer was too old.
  const isFresh = room.kind !== "apply" && lease.secondsUntilKill() > leastOfOffer
  const held = yield* Effect.forkIn(isFresh ? hold : Effect.void, scope, { startImmediately: true })
  const begin = Effect.gen(function* () {
    yield* room.accept
    const sent = momentOf(machineClocks)
    yield* line.accept(room.claim)
    const grant = isFresh ? lease.extend : lease.begin
    grant(sent, leaseSeconds)
    handle.isAccepted = true
    yield* Fiber.join(held)
    yield* isFresh ? guard.move(room.runFolder, lease.killAtBoot()) : hold
    yield* Deferred.succeed(accepted, undefined)
  })
  const begun = yield* Effect.forkIn(begin, scope)
  return { mayStart: Deferred.await(mayStart), accepted: Deferred.await(accepted), begun: Fiber.join(begun) }
})
