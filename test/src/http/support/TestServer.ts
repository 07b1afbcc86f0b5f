import { connect } from "node:net"
import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect"
import { HttpListener } from "../../../../src/http/HttpListener.ts"
import { TestApplication } from "./TestApplication.ts"
import { WebSocket } from "ws"

/** Serves the application on a free port. `stop` closes the listener before the test's Scope does. */
export class TestServer extends Context.Service<
  TestServer,
  { readonly url: string; readonly port: number; readonly stop: Effect.Effect<void> }
>()("test/http/TestServer") {
  static readonly layer = Layer.effect(
    TestServer,
    Effect.gen(function* () {
      const { handler } = yield* TestApplication
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
      const context = yield* Layer.buildWithScope(HttpListener.layer({ host: "127.0.0.1", port: 0 }), scope)
      const listener = Context.get(context, HttpListener)
      yield* Scope.provide(listener.mount(handler), scope)
      return { url: listener.url, port: listener.address.port, stop: Scope.close(scope, Exit.void) }
    })
  )
}

export interface Closed {
  readonly code: number
  readonly reason: string
}

/** A WebSocket client that records the messages in order, and the reason why the connection was closed. */
export interface TestSocket {
  readonly received: ReadonlyArray<string>
  /** Waits until `count` messages have arrived. */
  readonly messages: (count: number) => Effect.Effect<ReadonlyArray<string>>
  readonly closed: Effect.Effect<Closed>
  readonly send: (text: string) => void
  readonly close: () => void
}

export const openSocket = Effect.fn("openSocket")(function* (path: string, headers: Record<string, string>) {
  const { port } = yield* TestServer
  const received: Array<string> = []
  const waiting = new Map<number, Deferred.Deferred<void>>()
  const closed = yield* Deferred.make<Closed>()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })),
    (socket) => Effect.sync(() => socket.close())
  )
  socket.on("message", (data) => {
    received.push(data.toString())
    const reached = waiting.get(received.length)
    if (reached !== undefined) Deferred.doneUnsafe(reached, Effect.void)
  })
  socket.on("close", (code, reason) => {
    Deferred.doneUnsafe(closed, Effect.succeed({ code, reason: reason.toString() }))
  })
  const messages = (count: number) =>
    Effect.suspend(() => {
      if (received.length >= count) return Effect.succeed(received)
      const reached = waiting.get(count) ?? Deferred.makeUnsafe<void>()
      waiting.set(count, reached)
      return Effect.as(Deferred.await(reached), received)
    })
  const opened: TestSocket = {
    received,
    messages,
    closed: Deferred.await(closed),
    send: (text) => socket.send(text),
    close: () => socket.close()
  }
  return opened
})

/** Opens a subscriber that upgrades its connection and then never reads. */
export const openStalled = Effect.fn("openStalled")(function* (path: string, headers: Record<string, string>) {
  const { port } = yield* TestServer
  const lines = Object.entries({
    ...headers,
    host: `127.0.0.1:${port}`,
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof connect>>((resume) => {
      const socket = connect(port, "127.0.0.1")
      socket.once("data", () => {
        socket.pause()
        resume(Effect.succeed(socket))
      })
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`)
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
})

/** Returns the status with which the server refused an upgrade, or 101 if the server accepted it. */
export const upgradeStatus = Effect.fn("upgradeStatus")(function* (path: string, headers: Record<string, string>) {
  const { url } = yield* TestServer
  const response = yield* Effect.promise((signal) =>
    fetch(`${url}${path}`, {
      signal,
      headers: {
        ...headers,
        upgrade: "websocket",
        connection: "Upgrade",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="
      }
    })
  )
  return response.status
})
