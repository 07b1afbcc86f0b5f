import { type Cause, Deferred, Effect, Latch, type Scope, Semaphore } from "effect"
import type { StateCheckpoint } from "../../../runner/execution/RunSink.ts"
import type { HoldLost } from "../run/RunHold.ts"

/** Stores the states of one execution, one at a time. If several are waiting, only the newest is stored. */
export interface StateKeeping {
  /** Accepts a state and returns at once. */
  readonly offer: (checkpoint: StateCheckpoint) => Effect.Effect<void>
  /**
   * Accepts no more states, and waits until the newest state is stored. A failure is only logged, because the execution's
   * outcome also includes the state.
   */
  readonly end: Effect.Effect<void>
  /** Fails as soon as a state cannot be stored because the execution has lost its hold. */
  readonly lost: Effect.Effect<never, HoldLost>
}

const keepAgain = "1 second"

/**
 * Returns true if a state replaces the last one. A tool may write several states with the same serial, but never decreases the
 * serial.
 */
export const isNewer = (last: number | undefined, { serial }: Pick<StateCheckpoint, "serial">): boolean =>
  last === undefined || serial >= last

/** Stores offered states with `keep` until the scope closes. Before closing, stores the newest state. */
export const makeStateKeeping = Effect.fnUntraced(function* (
  keep: (checkpoint: StateCheckpoint) => Effect.Effect<void, HoldLost>
): Effect.fn.Return<StateKeeping, never, Scope.Scope> {
  const turn = yield* Semaphore.make(1)
  const offered = yield* Latch.make()
  const lost = yield* Deferred.make<never, HoldLost>()
  let waiting: StateCheckpoint | undefined
  let lastSerial: number | undefined
  let hasEnded = false

  /** Handles a state that could not be stored: does not report it as saved, and queues it again unless a newer state exists. */
  const failed = (checkpoint: StateCheckpoint, cause: Cause.Cause<never>) =>
    Effect.suspend(() => {
      waiting ??= checkpoint
      offered.openUnsafe()
      return Effect.logError("A checkpoint of a state could not be kept.", cause)
    })

  /** Returns `false` if a failure left a state waiting. */
  const attempt = Effect.suspend(() => {
    const checkpoint = waiting
    waiting = undefined
    offered.closeUnsafe()
    if (checkpoint === undefined || Deferred.isDoneUnsafe(lost)) return Effect.succeed(true)
    return keep(checkpoint).pipe(
      Effect.as(true),
      Effect.catchTag("HoldLost", (error) => Effect.as(Deferred.fail(lost, error), true)),
      Effect.catchCause((cause) => Effect.as(failed(checkpoint, cause), false))
    )
  })
  const inTurn = <A>(effect: Effect.Effect<A>) => effect.pipe(turn.withPermit, Effect.uninterruptible)

  const end = Effect.map(attempt, () => {
    hasEnded = true
    waiting = undefined
  })

  const work = Effect.forever(
    offered.await.pipe(
      Effect.andThen(inTurn(attempt)),
      Effect.flatMap((kept) => (kept ? Effect.void : Effect.sleep(keepAgain)))
    )
  )

  yield* Effect.forkScoped(work)
  yield* Effect.addFinalizer(() => inTurn(end))
  return {
    offer: (checkpoint) =>
      Effect.sync(() => {
        if (hasEnded || !isNewer(lastSerial, checkpoint)) return
        lastSerial = checkpoint.serial
        waiting = checkpoint
        offered.openUnsafe()
      }),
    end: inTurn(end),
    lost: Deferred.await(lost)
  }
})
