import { Clock, type Effect } from "effect"

/** Nanoseconds on a monotonic clock, to measure durations independently of the wall clock. */
export const monotonicNow: Effect.Effect<bigint> = Clock.clockWith((clock) => clock.monotonicTimeNanos)

export const seconds = (count: number): bigint => BigInt(Math.round(count * 1000)) * 1_000_000n
