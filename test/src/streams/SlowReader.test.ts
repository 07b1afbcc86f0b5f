import { expect } from "bun:test"
import { connect } from "node:net"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { StalledAfter } from "../../../src/streams/WebSockets.ts"
import { Journal } from "../http/support/FakeRunStreams.ts"
import { TestApplication } from "../http/support/TestApplication.ts"
import { openSocket, TestServer } from "../http/support/TestServer.ts"
import { world } from "../http/support/World.ts"
import { it } from "../../support/Effect.ts"

const server = TestServer.layer.pipe(Layer.provideMerge(TestApplication.layer))
const turn = Effect.promise(() => new Promise<void>((done) => setImmediate(done)))

const logs = `/api/v1/runs/${world.runId}/logs`
const bearer = { authorization: "Bearer ada-read-token" }
const lines = 40_000

const Frame = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ entries: Schema.Array(Schema.Struct({ seq: Schema.Int })) }),
    Schema.Struct({ done: Schema.Literal(true) })
  ])
)

/** Upgrades the connection and then reads nothing. */
const stall = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect(port, "127.0.0.1")
      socket.once("data", () => socket.pause())
      socket.on("error", () => {})
      const head = [
        `GET ${logs} HTTP/1.1`,
        `Host: 127.0.0.1:${port}`,
        `Authorization: ${bearer.authorization}`,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
      ]
      socket.write(`${head.join("\r\n")}\r\n\r\n`)
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

// The test's clock advances only while the stalled reader is connected, so the server does not cut off the other reader on a
// slow machine.
it.effect(
  "the server cuts off a stalled stream reader, which can then resume where it stopped",
  () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const { port } = yield* TestServer
      journal.append(lines, "x".repeat(1000))
      yield* stall(port)
      // A paused client does not notice that the server has cut it off, so the test checks the connection on the server.
      while (journal.listeners() === 0) yield* turn
      while (journal.listeners() > 0) {
        yield* TestClock.adjust(yield* StalledAfter)
        yield* turn
      }
      journal.finish()
      const socket = yield* openSocket(`${logs}?after=1000`, bearer)
      expect((yield* socket.closed).code).toBe(1000)
      const frames = yield* Effect.forEach(socket.received, (text) => Schema.decodeEffect(Frame)(text))
      const seqs = frames.flatMap((frame) => ("entries" in frame ? frame.entries.map(({ seq }) => seq) : []))
      expect(seqs).toEqual(Array.from({ length: lines - 1000 }, (_, index) => 1001 + index))
    }).pipe(Effect.provide(server)),
  60_000
)
