import { Clock, Context, Effect } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { ReadHorizon } from "../../actors/base/database/ReadHorizon.ts"
import { CommitCache } from "../../actors/base/database/CommitCache.ts"
import { accessOf } from "../../schema/api/Roles.ts"
import { Caller } from "../../schema/api/Middleware.ts"

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse>

const separator = "\u0000"

/** Two requests with the same key get the same answer from the same records. A live stream is requested through headers. */
const keyOf = (context: Context.Context<never>): string => {
  const { credential, credentialId, subject } = Context.getUnsafe(context, Caller)
  const { headers, url } = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
  const wanted = `${headers["accept"] ?? ""}${separator}${headers["upgrade"] ?? ""}`
  return `${url}${separator}${subject}${separator}${credential}${separator}${credentialId}${separator}${wanted}`
}

/**
 * A reusable answer. It must be complete and already in memory, since a stream can be read only once. A blob is sent as it is; a
 * string or bytes would be copied for each response, and garbage collection of long lists stalls everything else.
 */
const repeatable = (response: HttpServerResponse.HttpServerResponse) => {
  const { body, status } = response
  if (status !== 200 || body._tag !== "Uint8Array") return undefined
  const { contentLength, contentType } = body
  const blob = new Blob([body.text ?? Uint8Array.from(body.body)])
  const again = HttpServerResponse.setBody(response, HttpBody.raw(blob, { contentLength, contentType }))
  return { response: again, weight: contentLength }
}

/** Wraps a clock, and takes note whenever the time is read. */
const noting = (clock: Clock.Clock, note: () => void): Clock.Clock => {
  const currentTimeMillisUnsafe = () => {
    note()
    return clock.currentTimeMillisUnsafe()
  }
  return {
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanos: Effect.andThen(Effect.sync(note), clock.currentTimeNanos),
    // These measure durations, for traces. The times shown in answers are times of day.
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

/** An answer, and the time (in milliseconds) until which it remains valid if nothing is committed. */
interface Remembered {
  readonly response: HttpServerResponse.HttpServerResponse
  readonly until: number
  /** Size of the answer, in bytes; absent if it is not reused. */
  readonly weight?: number | undefined
}

/**
 * Answers, and records how long the answer is valid. If a handler reads the time other than through `nowUntil`, its answer is
 * immediately invalid.
 */
const observed = (answered: Answered): Effect.Effect<Remembered> =>
  Effect.withFiber((fiber) => {
    let until = Number.POSITIVE_INFINITY
    const clock = fiber.getRef(Clock.Clock)
    const holds = (millis: number) => {
      until = Math.min(until, millis)
    }
    return answered.pipe(
      Effect.provideService(
        Clock.Clock,
        noting(clock, () => holds(0))
      ),
      Effect.provideService(ReadHorizon, { clock, until: holds }),
      Effect.map((response): Remembered => {
        const again = until === 0 ? undefined : repeatable(response)
        return again === undefined ? { response, until } : { ...again, until }
      })
    )
  })

/**
 * Reads whose answer is reused, byte for byte, until something is committed or the time it was compared with is reached. The
 * caller is still verified on every request.
 */
export const rememberedAnswers = Effect.map(CommitCache, ({ untilCommit }) => {
  return (endpoint: HttpApiEndpoint.Top, answered: Answered): Answered => {
    const rule = accessOf(endpoint)
    if (rule.kind === "public" || rule.kind === "token") return answered
    const remembered = untilCommit(() => observed(answered), {
      // The caller chooses the key, so its size counts too, at two bytes per character.
      weigh: ({ weight }, key) => (weight === undefined ? undefined : weight + 2 * key.length),
      until: (one) => one.until
    })
    return Effect.withFiber((fiber) => Effect.map(remembered(keyOf(fiber.context)), ({ response }) => response))
  }
})
