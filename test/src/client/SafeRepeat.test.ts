import { describe, expect } from "bun:test"
import { Effect, Fiber, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { repeatedWhereSafe } from "../../../src/client/SafeRepeat.ts"
import { it } from "../../support/Effect.ts"

type Answer = { readonly status: number; readonly retryAfter?: string } | "unreachable"

/** Starts a server that returns these responses in order and records its requests. */
const serverWith = (answers: ReadonlyArray<Answer>) => {
  const asked: Array<string> = []
  const client = HttpClient.make((request) => {
    const answer = answers[asked.length] ?? { status: 200 }
    asked.push(request.method)
    if (answer === "unreachable") {
      return Effect.fail(
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) })
      )
    }
    const headers = answer.retryAfter === undefined ? {} : { "retry-after": answer.retryAfter }
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status: answer.status, headers })))
  })
  return { asked, client: repeatedWhereSafe(client) }
}

const get = HttpClientRequest.get("https://svc.example.test/api/v1/workspaces")
const post = HttpClientRequest.post("https://svc.example.test/api/v1/workspaces")
const keyed = HttpClientRequest.setHeader(post, "idempotency-key", "once")

/** Returns the result of a request and its duration in seconds. Stops after ten minutes. */
const ended = Effect.fnUntraced(
  function* (answers: ReadonlyArray<Answer>, request: HttpClientRequest.HttpClientRequest) {
    const { asked, client } = serverWith(answers)
    const fiber = yield* Effect.forkChild(
      client.execute(request).pipe(
        Effect.map(({ status }): number | string => status),
        Effect.orElseSucceed(() => "unreachable")
      )
    )
    yield* TestClock.adjust("10 minutes")
    return [yield* Fiber.join(fiber), asked.length]
  },
  Effect.provide(Layer.mergeAll(TestClock.layer()))
)

describe("Client requests", () => {
  it.effect("a client repeats a request if the server is too busy and a repetition is safe", () =>
    Effect.gen(function* () {
      const busy = { status: 503, retryAfter: "2" }
      expect(yield* ended([busy, { status: 429, retryAfter: "60" }], get)).toEqual([200, 3])
      expect(yield* ended([busy, { status: 503 }], keyed)).toEqual([200, 3])
      // A request without a key is not retried, because the server may already have executed it.
      expect(yield* ended([busy], post)).toEqual([503, 1])
    })
  )

  it.effect("a client repeats a request that did not reach the server", () =>
    Effect.gen(function* () {
      expect(yield* ended(["unreachable", "unreachable"], get)).toEqual([200, 3])
      expect(yield* ended(["unreachable"], post)).toEqual(["unreachable", 1])
    })
  )

  it.effect("a client returns the last response once the retries are used up", () =>
    Effect.gen(function* () {
      const busy = { status: 503 }
      expect(yield* ended([busy, busy, busy, busy, busy], get)).toEqual([503, 4])
      expect(
        yield* ended(
          Array.from({ length: 5 }, () => "unreachable" as const),
          get
        )
      ).toEqual(["unreachable", 4])
    })
  )

  it.effect("a client waits at most a minute before it retries, and never retries after any other refusal", () =>
    Effect.gen(function* () {
      expect(yield* ended([{ status: 503, retryAfter: "61" }], get)).toEqual([503, 1])
      expect(yield* ended([{ status: 500 }], get)).toEqual([500, 1])
      expect(yield* ended([{ status: 409 }], keyed)).toEqual([409, 1])
    })
  )
})
