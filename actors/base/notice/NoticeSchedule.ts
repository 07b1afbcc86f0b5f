import { Duration } from "effect"
import type { NoticePostResult } from "../../../runner/probe/NoticePost.ts"

/** The delays before each attempt to send a delivery. */
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

/** Maximum random extension of a delay, as a fraction, so that the retries of many deliveries do not coincide. */
const jitter = 0.2

/** Maximum pause that a receiver can request. */
const longestPause = Duration.hours(10)

/** Maximum time, measured from its creation, that a delivery holds back later deliveries about its subject. */
export const holdFor = Duration.minutes(5)

/** The time for which an endpoint may keep failing before it is disabled. */
export const failingFor = Duration.days(5)

/** Returns the time between two attempts at a failing endpoint, regardless of the number of waiting deliveries. */
export const restAfter = (failures: number): Duration.Duration =>
  Duration.min(Duration.times(Duration.seconds(5), 2 ** Math.min(Math.max(failures, 1) - 1, 20)), Duration.minutes(5))

/** The next step for a delivery after an attempt. */
export type NoticeNext =
  | { readonly status: "delivered" }
  | { readonly status: "failed" }
  /** `after` is the time until the next attempt, and `pause` is the pause that the receiver requested, both in milliseconds. */
  | { readonly status: "waiting"; readonly after: number; readonly pause: number | undefined }

/** Decides what happens to a delivery. `tries` includes the last attempt, and `random` is between 0 and 1. */
export const nextOf = ({ outcome, retryAfter }: NoticePostResult, tries: number, random: number): NoticeNext => {
  if (outcome === "accepted") return { status: "delivered" }
  const delay = delays[tries]
  if (outcome === "gone" || delay === undefined) return { status: "failed" }
  const pause = retryAfter === undefined ? undefined : Math.min(retryAfter * 1000, Duration.toMillis(longestPause))
  const after = Math.round(Duration.toMillis(delay) * (1 + jitter * random))
  return { status: "waiting", after: Math.max(after, pause ?? 0), pause }
}
