import { Clock, Context, Duration, Effect, Layer } from "effect"

/** A clock that runs as usual, and can be set forward. */
export class TestTime extends Context.Service<
  TestTime,
  { readonly clock: Clock.Clock; readonly advance: (by: Duration.Input) => Effect.Effect<void> }
>()("test/oidc/TestTime") {}

/** Provides the clock to everything that is built and run with it. */
export const testTime = Layer.effectContext(
  Effect.map(Clock.Clock, (real) => {
    let ahead = 0
    const millis = () => real.currentTimeMillisUnsafe() + ahead
    const nanos = () => real.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n
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
    return Context.make(TestTime, { clock, advance }).pipe(Context.add(Clock.Clock, clock))
  })
)
