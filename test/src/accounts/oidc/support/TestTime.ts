import { Clock, Context, Duration, Effect, Layer } from "effect"

/** A clock that runs normally until it is stopped, and can be set forward. While stopped, it moves only by `advance`. */
export class TestTime extends Context.Service<
  TestTime,
  {
    readonly clock: Clock.Clock
    readonly advance: (by: Duration.Input) => Effect.Effect<void>
    readonly stop: Effect.Effect<void>
  }
>()("test/oidc/TestTime") {}

/** Makes everything that is built or run inside this effect use the clock. */
export const testTime = Layer.effectContext(
  Effect.map(Clock.Clock, (real) => {
    let ahead = 0
    let stoppedAt: number | undefined
    const millis = () => (stoppedAt ?? real.currentTimeMillisUnsafe()) + ahead
    const nanos = () =>
      (stoppedAt === undefined ? real.currentTimeNanosUnsafe() : BigInt(stoppedAt) * 1_000_000n) +
      BigInt(ahead) * 1_000_000n
    const clock: Clock.Clock = {
      ...real,
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      sleep: (duration) => real.sleep(duration)
    }
    const advance = (by: Duration.Input) =>
      Effect.sync(() => {
        ahead += Duration.toMillis(Duration.fromInputUnsafe(by))
      })
    const stop = Effect.sync(() => {
      stoppedAt ??= real.currentTimeMillisUnsafe()
    })
    return Context.make(TestTime, { clock, advance, stop }).pipe(Context.add(Clock.Clock, clock))
  })
)
