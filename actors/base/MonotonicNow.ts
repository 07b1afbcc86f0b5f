import { Clock, type Effect } from "effect"

/** The time on a monotonic clock in nanoseconds, for measuring durations regardless of changes to the time of day. */
export const monotonicNow: Effect.Effect<bigint> = Clock.clockWith((clock) => clock.monotonicTimeNanos)

export const seconds = (count: number): bigint => BigInt(Math.round(count * 1000)) * 1_000_000n
