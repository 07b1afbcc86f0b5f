import { type Clock, Duration, Effect } from "effect"

/** A shorter sleep is a yield or a poll: it returns immediately and takes no simulated time. */
const shortestSleep = 250

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/**
 * Time that advances only on request. As on a real machine, sleeps follow elapsed time, and the date can be corrected separately,
 * in either direction.
 */
export interface YearClock {
  readonly clock: Clock.Clock
  /** The date in milliseconds. */
  readonly millis: () => number
  /** Advances time. Each sleep that ends within the period wakes up once, in order. */
  readonly pass: (by: Duration.Input) => Effect.Effect<void>
  /** Corrects the date without advancing time. */
  readonly correct: (by: Duration.Input, direction: "forward" | "backward") => Effect.Effect<void>
}

const millisOf = (input: Duration.Input) => Duration.toMillis(Duration.fromInputUnsafe(input))

/** Runs all ready work, including file and socket callbacks. */
export const others = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

export const yearClock = (start: number): YearClock => {
  let passed = 0
  let correction = 0
  const sleepers = new Set<Sleeper>()
  const millis = () => start + passed + correction
  const nanos = () => BigInt(millis()) * 1_000_000n
  const monotonic = () => BigInt(passed) * 1_000_000n
  const sleepUntil = (until: number) =>
    Effect.callback<void>((resume) => {
      const sleeper = { until, wake: () => resume(Effect.void) }
      sleepers.add(sleeper)
      return Effect.sync(() => sleepers.delete(sleeper))
    })
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) => {
      const by = Duration.toMillis(duration)
      return by < shortestSleep ? others : Effect.suspend(() => sleepUntil(passed + by))
    }
  }
  const pass = (by: Duration.Input) =>
    Effect.gen(function* () {
      passed += millisOf(by)
      const due = [...sleepers].filter(({ until }) => until <= passed).toSorted((a, b) => a.until - b.until)
      for (const sleeper of due) {
        sleepers.delete(sleeper)
        sleeper.wake()
      }
      yield* others
    })
  const correct = (by: Duration.Input, direction: "forward" | "backward") =>
    Effect.sync(() => {
      correction += direction === "forward" ? millisOf(by) : -millisOf(by)
    })
  return { clock, millis, pass, correct }
}
