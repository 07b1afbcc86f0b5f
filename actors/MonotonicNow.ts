import { Clock, type Effect } from "effect"

/** The time of a clock that only moves forward, in nanoseconds: for how long something is silent, whatever is done to the time of day. */
export const monotonicNow: Effect.Effect<bigint> = Clock.clockWith((clock) => clock.monotonicTimeNanos)

export const seconds = (count: number): bigint => BigInt(Math.round(count * 1000)) * 1_000_000n
