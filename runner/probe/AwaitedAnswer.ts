import { Clock, Duration, Effect, Result } from "effect"
import { defaultCheck, type PostApplyCheck } from "../../schema/policy/PostApplyCheck.ts"
import type { PostApplyResult } from "../../schema/records/Run.ts"
import { HttpProbe } from "./HttpProbe.ts"

/** Maximum duration of a single request, so that one request cannot use up the time for all attempts. */
const longestRequest = Duration.seconds(10)

/** Returns the URL to check, or `undefined` if its target is missing. */
export const checkedUrl = (target: string, path: string | undefined): URL | undefined => {
  const url = URL.parse(target)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined
  url.hash = ""
  return path === undefined ? url : (URL.parse(path, url.origin) ?? undefined)
}

/**
 * Repeats the request until the expected response arrives or the time is up. Never fails: if no response arrives, the result
 * reports that.
 */
export const awaitAnswer = Effect.fn("awaitAnswer")(function* (check: PostApplyCheck, url: URL) {
  const probe = yield* HttpProbe
  const {
    contains,
    interval = defaultCheck.interval,
    status = defaultCheck.status,
    timeout = defaultCheck.timeout
  } = check
  const until = (yield* Clock.currentTimeMillis) + timeout * 1000
  const ended = (outcome: PostApplyResult["status"], attempts: number, reason?: string): PostApplyResult => ({
    name: check.name,
    status: outcome,
    attempts,
    ...(reason === undefined ? {} : { reason })
  })
  for (let attempts = 1; ; attempts += 1) {
    const left = Math.max(0, until - (yield* Clock.currentTimeMillis))
    const answer = yield* probe
      .ask(url, contains)
      .pipe(Effect.timeoutOption(Duration.min(longestRequest, Duration.millis(left))), Effect.result)
    let met: string
    if (Result.isFailure(answer)) {
      if (answer.failure.isFinal) return ended("failed", attempts, answer.failure.message)
      met = answer.failure.message
    } else if (answer.success._tag === "None") {
      met = "it did not answer in time"
    } else {
      const { holds, status: answered } = answer.success.value
      if (status.includes(answered) && holds) return ended("passed", attempts)
      met = status.includes(answered)
        ? "its answer does not hold the expected text"
        : `it answered with status ${answered} instead of ${status.join(" or ")}`
    }
    if ((yield* Clock.currentTimeMillis) + interval * 1000 >= until) {
      return ended("failed", attempts, `after ${timeout} seconds ${met}`)
    }
    yield* Effect.sleep(Duration.seconds(interval))
  }
})
