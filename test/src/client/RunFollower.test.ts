import { describe, expect } from "bun:test"
import { Clock, Deferred, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { fileURLToPath } from "node:url"
import { ApiError, followEvents, followLogs } from "../../../src/client/index.ts"
import { it } from "../../support/Effect.ts"
import { Journal } from "../http/support/FakeRunStreams.ts"
import { TestApplication } from "../http/support/TestApplication.ts"
import { TestServer } from "../http/support/TestServer.ts"
import { world } from "../http/support/World.ts"
import { fetchServer } from "../../support/FetchServer.ts"

const server = TestServer.layer.pipe(
  Layer.provideMerge(TestApplication.layer),
  Layer.provideMerge(FetchHttpClient.layer)
)

const live = (name: string, body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof server>>) =>
  it.live(name, () => Effect.suspend(body).pipe(Effect.provide(server)))

const nodeProgram = fileURLToPath(new URL("support/NodeProgram.ts", import.meta.url))

const as = (url: string, token: string) => ({ baseUrl: url, token: Redacted.make(token) })

describe("Following Runs", () => {
  live("following a Run yields every event exactly once, in order, as soon as it arrives", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const { url } = yield* TestServer
      journal.append(3)
      const third = yield* Deferred.make<void>()
      const following = yield* followEvents(as(url, "ada-read-token"), world.runId, 1).pipe(
        Stream.map(({ seq }) => seq),
        Stream.tap((seq) => (seq === 3 ? Deferred.succeed(third, undefined) : Effect.void)),
        Stream.runCollect,
        Effect.forkChild
      )
      yield* Deferred.await(third)
      journal.append(2)
      journal.finish()
      expect([...(yield* Fiber.join(following))]).toEqual([2, 3, 4, 5])
      const lines = yield* Stream.runCollect(followLogs(as(url, "ada-read-token"), world.runId, 3))
      expect([...lines].map(({ seq, text }) => [seq, text])).toEqual([
        [4, "line"],
        [5, "line"]
      ])
    })
  )

  live("following a Run resumes the stream where the connection was cut", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const { url } = yield* TestServer
      journal.append(4)
      let opened = 0
      // A proxy that cuts its first connection after this many bytes.
      const proxy = yield* fetchServer(async (request) => {
        opened++
        const { pathname, search } = new URL(request.url)
        const response = await fetch(`${url}${pathname}${search}`, { headers: request.headers })
        if (opened > 1) return response
        const reader = response.body?.getReader()
        const first = await reader?.read()
        await reader?.cancel()
        journal.append(2)
        journal.finish()
        return new Response(first?.value, { headers: response.headers })
      })
      const events = yield* followEvents(as(proxy, "ada-read-token"), world.runId).pipe(Stream.runCollect)
      expect([...events].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
      expect(opened).toBe(2)
    }).pipe(Effect.scoped)
  )

  it.effect("following a Run backs off after each failure or as the server requests, and resets after an event", () =>
    Effect.gen(function* () {
      const refused = (status: number, headers: Readonly<Record<string, string>> = {}) =>
        Response.json({ error: { code: "rate_limited", message: "Later.", requestId: "req_a" } }, { status, headers })
      const frames = (...sent: ReadonlyArray<object>) =>
        new Response(sent.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(""))
      const event = { seq: 1, at: "2026-01-31T09:30:00.000Z", kind: "run.queued", data: { type: "plan" } }
      const answers = [
        undefined,
        refused(503),
        refused(429, { "retry-after": "7" }),
        undefined,
        frames({ events: [event] }),
        undefined,
        frames({ done: true })
      ]
      const asked: Array<readonly [millis: number, lastEventId: string | undefined]> = []
      const scripted = HttpClient.make((request) =>
        Effect.flatMap(Clock.currentTimeMillis, (millis) => {
          const answer = answers[asked.length]
          asked.push([millis, request.headers["last-event-id"]])
          return answer === undefined
            ? Effect.fail(
                new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) })
              )
            : Effect.succeed(HttpClientResponse.fromWeb(request, answer))
        })
      )
      const following = yield* followEvents(as("https://svc.example.test", "token"), world.runId).pipe(
        Stream.map(({ seq }) => seq),
        Stream.runCollect,
        Effect.provideService(HttpClient.HttpClient, scripted),
        Effect.forkChild
      )
      yield* TestClock.adjust("1 minute")
      expect([...(yield* Fiber.join(following))]).toEqual([1])
      expect(asked.map(([millis]) => millis)).toEqual([0, 250, 750, 7750, 9750, 10_000, 10_500])
      expect(asked.map(([, last]) => last)).toEqual(["0", "0", "0", "0", "0", "1", "1"])
    })
  )

  it.live("following a Run behaves the same on Node", () =>
    Effect.gen(function* () {
      const node = Bun.which("node")
      // Every machine with npm has Node. If Node is missing, the test is skipped.
      if (node === null) return
      const journal = yield* Journal
      const { url } = yield* TestServer
      journal.append(3)
      journal.finish()
      const built = yield* Effect.promise(() =>
        Bun.build({ entrypoints: [nodeProgram], target: "node", format: "esm" })
      )
      const code = yield* Effect.promise(async () => (await built.outputs[0]?.text()) ?? "")
      const child = Bun.spawn([node, "--input-type=module", "-", url, "ada-read-token", world.runId], {
        stdin: new Blob([code]),
        stdout: "pipe",
        stderr: "pipe"
      })
      const read = (stream: ReadableStream<Uint8Array<ArrayBuffer>>) =>
        Effect.promise(() => new Response(stream).text())
      const [out, error] = yield* Effect.all([read(child.stdout), read(child.stderr)], { concurrency: 2 })
      expect(error).toBe("")
      expect(JSON.parse(out)).toEqual({ runtime: "node", runner: true, events: [2, 3], refused: "not_found" })
    }).pipe(Effect.provide(server))
  )

  live("following a Run does not retry after a refusal", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const codes = yield* Effect.forEach(["nobody", "ada-token-for-b"], (token) =>
        Effect.map(
          Effect.flip(Stream.runDrain(followEvents(as(url, token), world.runId))),
          (refused) => refused instanceof ApiError && refused.code
        )
      )
      expect(codes).toEqual(["invalid_token", "permission_denied"])
    })
  )
})
