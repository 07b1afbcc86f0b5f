import { Duration, Effect, Queue, type Scope } from "effect"
import type { StateCheckpoint } from "../execution/RunSink.ts"

const shortest = Duration.seconds(1)
const timesTheLast = 5

export interface StateUploads {
  /** Offers a state for upload. Returns immediately, because the state is already on the agent's disk. */
  readonly offer: (state: StateCheckpoint) => Effect.Effect<void>
  readonly newestSerial: () => number | undefined
}

/**
 * Until the scope closes, sends one state at a time, always the newest. After each upload, pauses for five times the
 * duration of the upload, so that large states do not monopolise the connection.
 */
export const uploadStates = Effect.fnUntraced(function* (
  send: (state: StateCheckpoint) => Effect.Effect<void>
): Effect.fn.Return<StateUploads, never, Scope.Scope> {
  const waiting = yield* Queue.sliding<StateCheckpoint>(1)
  let newest: number | undefined
  yield* Queue.take(waiting).pipe(
    Effect.flatMap((state) => Effect.timed(send(state))),
    Effect.flatMap(([took]) => Effect.sleep(Duration.max(shortest, Duration.times(took, timesTheLast)))),
    Effect.forever,
    Effect.forkScoped
  )
  return {
    offer: (state) =>
      Effect.suspend(() => {
        newest = state.serial
        return Effect.asVoid(Queue.offer(waiting, state))
      }),
    newestSerial: () => newest
  }
})
