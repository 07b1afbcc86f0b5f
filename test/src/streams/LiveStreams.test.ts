import { describe, expect } from "bun:test"
import { Effect, Layer, Schema, Stream } from "effect"
import type { Scope } from "effect"
import { SqlClient } from "effect/sql"
import { withoutPrincipal, world } from "../http/support/World.ts"
import { maxFrameBytes } from "../../../src/streams/FrameText.ts"
import { RecheckInterval } from "../../../src/streams/LiveSubscription.ts"
import { it } from "../../support/Effect.ts"
import { Journal } from "../http/support/FakeRunStreams.ts"
import { origin, TestApplication } from "../http/support/TestApplication.ts"
import { openSocket, openStalled, TestServer, upgradeStatus } from "../http/support/TestServer.ts"

const server = TestServer.layer.pipe(
  Layer.provideMerge(TestApplication.layer),
  Layer.provideMerge(Layer.succeed(RecheckInterval, "20 millis"))
)

const live = (name: string, body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof server> | Scope.Scope>) =>
  it.live(name, () => Effect.suspend(body).pipe(Effect.provide(server)))

const events = `/api/v1/runs/${world.runId}/events`
const logs = `/api/v1/runs/${world.runId}/logs`
const bearer = { authorization: "Bearer ada-read-token" }
const cookie = { cookie: "svc_session=ada-session" }
const page = { ...cookie, origin }

const EventFrame = Schema.fromJsonString(Schema.Struct({ events: Schema.Array(Schema.Struct({ seq: Schema.Int })) }))
const LogFrame = Schema.fromJsonString(
  Schema.Struct({ entries: Schema.Array(Schema.Struct({ seq: Schema.Int, text: Schema.String })) })
)
const done = '{"done":true}'

const sequenceOf = (texts: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(
      texts.filter((text) => text !== done),
      (text) => Schema.decodeEffect(EventFrame)(text)
    ),
    (frames) => frames.flatMap((frame) => frame.events.map(({ seq }) => seq))
  )

const logSequence = (texts: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(
      texts.filter((text) => text !== done),
      (text) => Schema.decodeEffect(LogFrame)(text)
    ),
    (frames) => frames.flatMap((frame) => frame.entries.map(({ seq }) => seq))
  )

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe("WebSocket streams", () => {
  live(
    "a WebSocket stream replays existing entries, follows new entries, and ends with a done frame and close code 1000",
    () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        journal.append(700)
        const socket = yield* openSocket(events, bearer)
        yield* socket.messages(1)
        for (let round = 0; round < 20; round++) {
          const before = socket.received.length
          journal.append(3)
          yield* socket.messages(before + 1)
        }
        journal.finish()
        expect(yield* socket.closed).toEqual({ code: 1000, reason: "done" })
        expect(socket.received.at(-1)).toBe(done)
        expect(yield* sequenceOf(socket.received)).toEqual(upTo(760))
      })
  )

  live("a WebSocket stream resumes after any point without gaps or duplicates", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      journal.append(300)
      const first = yield* openSocket(`${events}?after=120`, bearer)
      yield* first.messages(1)
      first.close()
      yield* first.closed
      const seen = yield* sequenceOf(first.received)
      expect(seen[0]).toBe(121)
      journal.append(50)
      journal.finish()
      const second = yield* openSocket(`${events}?after=${seen.at(-1)}`, bearer)
      yield* second.closed
      expect([...seen, ...(yield* sequenceOf(second.received))]).toEqual(upTo(350, 121))
    })
  )

  live("WebSocket streams at the same position share one read", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      journal.append(10)
      const sockets = yield* Effect.forEach(upTo(30), () => openSocket(events, bearer))
      yield* Effect.forEach(sockets, (socket) => socket.messages(1))
      const before = journal.reads()
      journal.append(1)
      yield* Effect.forEach(sockets, (socket) => socket.messages(2))
      journal.finish()
      for (const socket of sockets) {
        yield* socket.closed
        expect(yield* sequenceOf(socket.received)).toEqual(upTo(11))
      }
      expect(journal.reads() - before).toBeLessThan(30)
      expect(journal.listeners()).toBe(0)
    })
  )

  live("a WebSocket stream cuts large sequences into frames of bounded size", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      journal.append(300, "é".repeat(500))
      journal.append(1, "x".repeat(2 * maxFrameBytes))
      journal.append(2, "tail")
      journal.finish()
      const socket = yield* openSocket(logs, bearer)
      yield* socket.closed
      const frames = socket.received.filter((text) => text !== done)
      const entries = (yield* Effect.forEach(frames, (text) => Schema.decodeEffect(LogFrame)(text))).map(
        (frame) => frame.entries
      )
      expect(entries.flat().map(({ seq }) => seq)).toEqual(upTo(303))
      for (const [index, text] of frames.entries()) {
        expect(Buffer.byteLength(text) <= maxFrameBytes || entries[index]?.length === 1).toBe(true)
      }
    })
  )

  live("a stalled WebSocket reader is served from the ledger later, and no backlog builds up in memory", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* openStalled(logs, bearer)
      const lines = 40_000
      journal.append(lines, "x".repeat(1000))
      const socket = yield* openSocket(logs, bearer)
      journal.finish()
      yield* socket.closed
      expect((yield* logSequence(socket.received)).length).toBe(lines)
      // Both readers must read pages of 256 lines. Only a fraction of the stalled reader's 40 MB fits into socket buffers.
      expect(journal.reads()).toBeLessThan((lines / 256) * 1.5)
    })
  )

  live("a WebSocket stream rejects callers without authority", () =>
    Effect.gen(function* () {
      for (const [path, headers, status] of [
        [events, page, 101],
        [events, { ...cookie, origin: "https://evil.example.test" }, 403],
        [events, { ...cookie, origin, "sec-fetch-site": "cross-site" }, 403],
        [events, cookie, 403],
        [events, {}, 401],
        [`${events}?access_token=ada-read-token`, {}, 401],
        [events, { cookie: "svc_session=bob-session", origin }, 403],
        [events, { authorization: "Bearer ada-token-for-b" }, 403],
        [`/api/v1/runs/run_${"q".repeat(24)}/events`, bearer, 404],
        [`${events}?after=-1`, bearer, 400],
        [`/api/v1/runs/${world.runId}`, bearer, 409]
      ] as const) {
        if (status === 101) {
          const socket = yield* openSocket(path, headers)
          const journal = yield* Journal
          journal.append(1)
          yield* socket.messages(1)
        } else {
          expect(`${path} ${yield* upgradeStatus(path, headers)}`).toBe(`${path} ${status}`)
        }
      }
    })
  )

  live("a WebSocket stream ends when its authority is revoked", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      journal.append(1)
      const socket = yield* openSocket(events, bearer)
      yield* socket.messages(1)
      yield* withoutPrincipal("ada-read-token", Effect.asVoid(socket.closed))
      expect((yield* socket.closed).code).toBe(4401)
    })
  )

  live("a WebSocket stream ends when its member is suspended", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const sql = yield* SqlClient.SqlClient
      journal.append(1)
      const socket = yield* openSocket(events, { "x-svc-account-session": "viewer-session" })
      yield* socket.messages(1)
      yield* sql`UPDATE memberships SET status = 'suspended' WHERE subject = ${world.viewer}`
      expect((yield* socket.closed).code).toBe(4403)
    })
  )

  live("a WebSocket stream rejects large messages from a subscriber, and ignores all other messages", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      journal.append(1)
      const socket = yield* openSocket(events, bearer)
      yield* socket.messages(1)
      socket.send("anything")
      journal.append(1)
      yield* socket.messages(2)
      socket.send("x".repeat(65 * 1024))
      expect([1006, 1009]).toContain((yield* socket.closed).code)
      expect(yield* sequenceOf(socket.received)).toEqual([1, 2])
    })
  )

  live("a WebSocket stream sends the position from which to resume when the server stops", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const { stop } = yield* TestServer
      journal.append(5)
      const socket = yield* openSocket(events, bearer)
      yield* socket.messages(1)
      yield* stop
      expect((yield* socket.closed).code).toBe(1012)
      expect(socket.received.at(-1)).toBe('{"resumeAfter":5}')
      expect(journal.listeners()).toBe(0)
    })
  )
})

class UnreadableResponse extends Schema.TaggedError<UnreadableResponse>()("UnreadableResponse", {
  cause: Schema.Defect()
}) {}

const readAll = (response: Response) =>
  Stream.fromReadableStream({
    evaluate: () => response.body ?? new ReadableStream<Uint8Array>(),
    onError: (cause) => new UnreadableResponse({ cause })
  }).pipe(Stream.decodeText, Stream.mkString)

describe("Server-sent events", () => {
  live("server-sent events carry the same frames, and resume from Last-Event-ID", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const { url } = yield* TestServer
      journal.append(40)
      journal.finish()
      const open = (headers: Record<string, string>) =>
        Effect.promise(() =>
          fetch(`${url}${events}?after=10`, { headers: { ...bearer, accept: "text/event-stream", ...headers } })
        )
      const response = yield* open({ "last-event-id": "35" })
      expect(response.headers.get("content-type")).toBe("text/event-stream")
      expect(response.headers.get("cache-control")).toBe("no-store")
      const text = yield* readAll(response)
      expect(text).toStartWith('id: 40\ndata: {"events":[{"seq":36')
      expect(text).toEndWith(`id: 40\ndata: ${done}\n\n`)
      const plain = yield* readAll(yield* open({}))
      expect(plain).toContain('{"seq":11')
      expect((yield* open({ "last-event-id": "x" })).status).toBe(400)
    })
  )
})
