import { Duration, Effect, Option, Schedule } from "effect"
import { HttpClientError } from "effect/http"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { progress } from "./Progress.ts"
import { Remote } from "./Remote.ts"
import { exitCodes } from "../ExitCodes.ts"
import { RemoteFailed } from "./RemoteFailed.ts"

/** Statuses that a reverse proxy returns if it cannot reach the server. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Returns true if the server is restarting or temporarily unreachable, and false if it refused the request. */
export const isAway = (error: unknown): boolean => {
  if (error instanceof ApiError) return error.code === "verification_unavailable" || error.code === "rate_limited"
  if (!HttpClientError.isHttpClientError(error)) return false
  return error.response === undefined || gatewayStatuses.has(error.response.status)
}

const again = Schedule.spaced("1 second")

/**
 * Repeats a read until the server responds. Reports once when the server is unreachable, and once when the server is
 * reachable again.
 */
export const patiently = <A, E, R>(read: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { origin } = yield* Remote
    let isReported = false
    const report = Effect.suspend(() => {
      if (isReported) return Effect.void
      isReported = true
      return progress(`${origin} cannot be reached; waiting for it. Its Runs continue.`)
    })
    const answer = yield* read.pipe(
      Effect.tapError((error) => (isAway(error) ? report : Effect.void)),
      Effect.retry({ while: isAway, schedule: again })
    )
    if (isReported) yield* progress(`${origin} is back.`)
    return answer
  })

/** Ends a wait after `--wait-timeout`. `next` is the command that resumes the wait. */
export const waitAtMost =
  (timeout: Option.Option<number>, what: string, next: string) =>
  <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E | RemoteFailed, R> =>
    Option.match(timeout, {
      onNone: () => wait,
      onSome: (millis) =>
        Effect.timeoutOrElse(wait, {
          duration: Duration.millis(millis),
          orElse: () =>
            Effect.fail(
              new RemoteFailed({
                code: "timed_out",
                exitCode: exitCodes.unreachable,
                message: `${what} did not end in ${Duration.format(Duration.millis(millis))}. It continues: \`${next}\`.`
              })
            )
        })
    })
