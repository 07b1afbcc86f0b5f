import { Duration } from "effect"
import type { NoticePostResult } from "../../../runner/probe/NoticePost.ts"

/** The delays before the attempts of one delivery. */
const delays = [
  Duration.zero,
  Duration.seconds(5),
  Duration.minutes(5),
  Duration.minutes(30),
  Duration.hours(2),
  Duration.hours(5),
  Duration.hours(10),
  Duration.hours(10)
] as const

export const mostAttempts = delays.length

/** A delay grows by at most this share of itself, so that the retries of many deliveries do not coincide. */
const jitter = 0.2

/** A receiver cannot ask for a longer pause. */
const longestPause = Duration.hours(10)

/** Later notices of a subject wait for an earlier one at most this long after it was written. */
export const holdFor = Duration.minutes(5)

/** An endpoint is disabled after failing for this long. */
export const failingFor = Duration.days(5)

/** The time that a failing endpoint rests between attempts, whatever the deliveries that wait for it. */
export const restAfter = (failures: number): Duration.Duration =>
  Duration.min(Duration.times(Duration.seconds(5), 2 ** Math.min(Math.max(failures, 1) - 1, 20)), Duration.minutes(5))

/** The next step of a delivery after an attempt. */
export type NoticeNext =
  | { readonly status: "delivered" }
  | { readonly status: "failed" }
  /** The milliseconds until the next attempt; `pause` is the pause that the receiver asked for. */
  | { readonly status: "waiting"; readonly after: number; readonly pause: number | undefined }

/** `tries` includes the attempt; `random` is between 0 and 1. */
export const nextOf = ({ outcome, retryAfter }: NoticePostResult, tries: number, random: number): NoticeNext => {
  if (outcome === "accepted") return { status: "delivered" }
  const delay = delays[tries]
  if (outcome === "gone" || delay === undefined) return { status: "failed" }
  const pause = retryAfter === undefined ? undefined : Math.min(retryAfter * 1000, Duration.toMillis(longestPause))
  const after = Math.round(Duration.toMillis(delay) * (1 + jitter * random))
  return { status: "waiting", after: Math.max(after, pause ?? 0), pause }
}
