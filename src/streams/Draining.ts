import { Context, Effect, Latch, Layer } from "effect"

/** Signals, only once, that the server is draining: it has stopped accepting new work, and its live streams have to end. */
export class Draining extends Context.Service<
  Draining,
  {
    readonly begin: Effect.Effect<void>
    readonly await: Effect.Effect<void>
    readonly begun: () => boolean
  }
>()("svc/src/streams/Draining") {
  static readonly layer = Layer.effect(
    Draining,
    Effect.gen(function* () {
      const latch = yield* Latch.make(false)
      let begun = false
      return Draining.of({
        begin: Effect.suspend(() => {
          begun = true
          return latch.open
        }),
        await: latch.await,
        begun: () => begun
      })
    })
  )
}
