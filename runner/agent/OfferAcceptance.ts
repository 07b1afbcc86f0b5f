import { Deferred, Effect, Fiber, type Scope } from "effect"
import type { Gone } from "../../schema/agent/AgentRefusal.ts"
import type { RunFileFailed } from "../execution/RunFiles.ts"
import { Guard, type GuardUnavailable } from "./guard/Guard.ts"
import { type Lease, machineClocks, momentOf } from "./LeaseClock.ts"
import type { RunHandle } from "./RunHandle.ts"
import { ServerConnection } from "./ServerConnection.ts"

/** Minimum remaining part of an offer's lease for processes to start under it. */
const leastOfOffer = 10

/**
 * An offer that is being accepted.
 *
 * - `mayStart`: the guard has the time by which the processes of the Run have to be dead. While the offer is fresh, this deadline
 *   is earlier than the server's next offer of the Run, so a plan or a drift check does not wait for the acceptance
 * - `accepted`: the server has recorded that this agent accepted the Run; its lease begins
 * - `begun`: completes after both, or fails with the reason that prevents them
 */
export interface OfferAcceptance {
  readonly mayStart: Effect.Effect<void>
  readonly accepted: Effect.Effect<void>
  readonly begun: Effect.Effect<void, Gone | GuardUnavailable | RunFileFailed>
}

/** Accepts an offer while work on it is already under way. */
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
  // If the first processes of an apply were killed because its offer was too old, the apply would fail, so an apply waits for its
  // acceptance.
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
