import { Effect } from "effect"
import { HttpClient, type HttpClientRequest, type HttpClientResponse } from "effect/http"

/** Maximum number of attempts, including the first. */
const mostAttempts = 4
/** Maximum wait in milliseconds. If the server requests a longer wait, the caller gets the response instead. */
const longestWait = 60_000

/** Returns the milliseconds to wait before another attempt. The wait grows with each failure, counted from 0. */
export const waitAfter = (failures: number, longest: number): number => Math.min(250 * 2 ** failures, longest)

const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD"])

/** Returns true if the request may be repeated because it is read-only or has an idempotency key. */
const isSafe = ({ headers, method }: HttpClientRequest.HttpClientRequest): boolean =>
  readingMethods.has(method) || headers["idempotency-key"] !== undefined

/**
 * Returns the milliseconds to wait before the next attempt. Returns `undefined` if the server was not merely busy, or if it
 * requests too long a wait.
 */
const waitOf = (response: HttpClientResponse.HttpClientResponse, attempt: number): number | undefined => {
  if (response.status !== 429 && response.status !== 503) return undefined
  const asked = Number(response.headers["retry-after"])
  const wait = Number.isFinite(asked) && asked >= 0 ? asked * 1000 : waitAfter(attempt, longestWait)
  return wait <= longestWait ? wait : undefined
}

/**
 * Repeats safe requests that did not reach the server. Also repeats safe requests that got status 429 or 503, after the time
 * given in `Retry-After`. Returns the last response if no attempt succeeds, for example because the server's storage is
 * full.
 */
export const repeatedWhereSafe = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (once, request) => {
    const attempted = (attempt: number): typeof once => {
      const isLast = attempt + 1 === mostAttempts
      const next = (wait: number) =>
        Effect.delay(
          Effect.suspend(() => attempted(attempt + 1)),
          wait
        )
      return once.pipe(
        Effect.matchEffect({
          onFailure: (error) =>
            isLast || error.response !== undefined ? Effect.fail(error) : next(waitAfter(attempt, longestWait)),
          onSuccess: (response) => {
            const wait = isLast ? undefined : waitOf(response, attempt)
            return wait === undefined ? Effect.succeed(response) : next(wait)
          }
        })
      )
    }
    return isSafe(request) ? attempted(0) : once
  })
