import { Deferred, Effect } from "effect"

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Completes at the second request to stop. The first request drains the server. The second request skips the wait: running
 * applies are interrupted immediately, but still save their state.
 */
export const secondSignal = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      let heard = 0
      const listener = () => {
        heard++
        if (heard === 2) Deferred.doneUnsafe(asked, Effect.void)
      }
      for (const signal of signals) process.on(signal, listener)
      return listener
    }),
    (listener) =>
      Effect.sync(() => {
        for (const signal of signals) process.off(signal, listener)
      })
  )
  return Deferred.await(asked)
})
