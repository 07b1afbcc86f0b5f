import { Duration, Effect, Option } from "effect"
import { HttpClient, type HttpClientRequest, type HttpClientResponse } from "effect/http"

/** The first request and its repetitions. */
const mostAttempts = 4
/** A server that asks for more is better answered by a person. */
const longestWait = Duration.seconds(60)
const firstWait = Duration.millis(250)

const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD"])

/** Whether a repetition does nothing twice: it only reads, or the server recognises it by its key. */
const isSafe = ({ headers, method }: HttpClientRequest.HttpClientRequest): boolean =>
  readingMethods.has(method) || headers["idempotency-key"] !== undefined

/** How long to wait before the next attempt, if the server was only too busy. */
const waitOf = (response: HttpClientResponse.HttpClientResponse, attempt: number): Option.Option<Duration.Duration> => {
  if (response.status !== 429 && response.status !== 503) return Option.none()
  const asked = Number(response.headers["retry-after"])
  const wait = Number.isFinite(asked) && asked >= 0 ? Duration.seconds(asked) : Duration.times(firstWait, 2 ** attempt)
  return Duration.isLessThanOrEqualTo(wait, longestWait) ? Option.some(wait) : Option.none()
}

/**
 * Repeats safe requests that the server answered with 429 or 503, after the time that it named in `Retry-After`, and those that
 * did not reach it. Full storage is a 503 as well; the last answer is the caller's.
 */
export const repeatedWhereSafe = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (once, request) => {
    const attempted = (attempt: number): typeof once => {
      const isLast = attempt + 1 === mostAttempts
      const next = (wait: Duration.Duration) =>
        Effect.delay(
          Effect.suspend(() => attempted(attempt + 1)),
          wait
        )
      return once.pipe(
        Effect.matchEffect({
          onFailure: (error) =>
            isLast || error.response !== undefined ? Effect.fail(error) : next(Duration.times(firstWait, 2 ** attempt)),
          onSuccess: (response) =>
            Option.match(isLast ? Option.none() : waitOf(response, attempt), {
              onNone: () => Effect.succeed(response),
              onSome: next
            })
        })
      )
    }
    return isSafe(request) ? attempted(0) : once
  })
