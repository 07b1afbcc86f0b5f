// Requests to this runtime's server that a corpus of bytes cannot express. Prints one line for each request; the lines from
// Bun and Node are compared.
import { once } from "node:events"
import { request } from "node:http"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Stream } from "effect"
import { WebSocket } from "ws"
import type { RunFrames } from "../../../src/streams/RunFrames.ts"
import type { Server, ServerOptions, StartServer } from "../../../src/http/ServerPort.ts"

const start: StartServer =
  typeof Bun === "undefined"
    ? (await import("../../../src/http/NodeServer.ts")).startNodeServer
    : (await import("../../../src/http/BunServer.ts")).startBunServer

const say = (what: string, found: unknown) => void process.stdout.write(`${what}: ${JSON.stringify(found)}\n`)

type Answer = (request: Request) => Response | Promise<Response>

const served = async (
  answer: ServerOptions["answer"],
  use: (server: Server) => Promise<void>,
  { idleSeconds = 30, socketIdleSeconds = 120 } = {}
) => {
  const server = await start({
    address: { host: "127.0.0.1", port: 0 },
    idleSeconds,
    socketIdleSeconds,
    answer,
    failed: () => new Response("failed", { status: 500 }),
    open: (frames, sink) => {
      const session = { drained: () => {}, closed: () => {} }
      void Effect.runPromise(
        frames.deliver((frame) => Effect.sync(() => void sink.send(frame.text))).pipe(Effect.ignore)
      ).then(() => sink.close(1000, "done"))
      return session
    }
  })
  await use(server)
  await server.stop(true)
}

const plain =
  (answer: Answer): ServerOptions["answer"] =>
  async (_, build) =>
    answer(build())

/** Returns all bytes that arrive on a connection until it closes. */
const raw = async (port: number, bytes: string) => {
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.on("data", (chunk) => (text += chunk.toString("latin1")))
  socket.on("error", () => {})
  socket.write(bytes, "latin1")
  // A reset also emits `close`.
  await new Promise((resolve) => socket.on("close", resolve))
  return text
}
const head = (text: string) => text.split("\r\n\r\n")[0]?.split("\r\n")[0]
const field = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(text)?.[1]?.trim()

await served(
  plain((given) => new Response(given.method === "HEAD" ? null : `${given.method} ${new URL(given.url).pathname}`)),
  async ({ port }) => {
    for (const line of ["OPTIONS /a", "TRACE /b", "DELETE /c", "GET /d?e=f"]) {
      const text = await raw(port, `${line} HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n`)
      say(line, [head(text), field(text, "content-length"), text.split("\r\n\r\n")[1]])
    }
    const asked = await raw(port, "HEAD / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n")
    say("HEAD says the time", field(asked, "date") !== undefined)
    const two = await raw(
      port,
      "GET /one HTTP/1.1\r\nhost: a.test\r\n\r\nGET /two HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n"
    )
    say("two requests at once", two.match(/GET \/\w+/g))
    const old = await raw(port, "GET /old HTTP/1.0\r\nhost: a.test\r\n\r\n")
    say("HTTP/1.0", [/^HTTP\/1\.[01] 200/.test(old), old.includes("GET /old"), old.includes("chunked")])
  }
)

await served(
  plain(async (given) => new Response(`${(await given.text()).length} ${given.headers.get("x-two") ?? ""}`)),
  async ({ port }) => {
    const post = (lines: string, body: string) =>
      raw(port, `POST / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n${lines}\r\n${body}`)
    say(
      "a body in chunks",
      (await post("transfer-encoding: chunked\r\n", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")).endsWith("5 ")
    )
    say("a header twice", (await post("content-length: 2\r\nx-two: 1\r\nx-two: 2\r\n", "ab")).endsWith("2 1, 2"))
    const expecting = request({ port, host: "127.0.0.1", method: "POST", headers: { expect: "100-continue" } })
    const goes = once(expecting, "continue")
    expecting.flushHeaders()
    await goes
    expecting.end("abcd")
    const [answered] = await once(expecting, "response")
    let text = ""
    for await (const chunk of answered) text += String(chunk)
    say("expect: 100-continue", text)
    say("no upgrade", head(await post("upgrade: h2c\r\n", "")))
  }
)

{
  const aborted = Promise.withResolvers<string>()
  const arrived = Promise.withResolvers<void>()
  await served(
    plain((given) => {
      given.signal.addEventListener("abort", () => aborted.resolve("aborted"))
      arrived.resolve()
      return Promise.withResolvers<Response>().promise
    }),
    async ({ port }) => {
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => {})
      socket.write("GET / HTTP/1.1\r\nhost: a.test\r\n\r\n")
      await arrived.promise
      socket.destroy()
      say("a client that goes away", await aborted.promise)
    }
  )
}

{
  let sent = 0
  const cancelled = Promise.withResolvers<string>()
  const piece = new Uint8Array(64 * 1024)
  await served(
    plain(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              sent++
              controller.enqueue(piece)
            },
            cancel: () => cancelled.resolve("cancelled")
          })
        )
    ),
    async ({ port }) => {
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => {})
      socket.write("GET / HTTP/1.1\r\nhost: a.test\r\n\r\n")
      await once(socket, "readable")
      socket.pause()
      // Waits until the server stops pulling from the body, because the kernel's buffers are full.
      for (let before = -1; before !== sent; ) {
        before = sent
        await sleep(200)
      }
      say("a reader that stops is waited for", sent < 1000)
      socket.destroy()
      say("its body", await cancelled.promise)
    }
  )
}

await served(
  plain(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode("half"))
            setTimeout(() => controller.error(new Error("broken")), 20)
          }
        })
      )
  ),
  async ({ port }) => {
    const text = await raw(port, "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n")
    say("a body that fails is cut", [text.includes("half"), text.includes("\r\n0\r\n\r\n")])
  }
)

await served(
  () => {
    throw new Error("defect")
  },
  async ({ port }) =>
    say("a defect", head(await raw(port, "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n")))
)

{
  const release = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  await served(
    plain(async () => {
      arrived.resolve()
      await release.promise
      return new Response("late")
    }),
    async (server) => {
      const idle = connect(server.port, "127.0.0.1")
      await once(idle, "connect")
      const answer = raw(server.port, "GET / HTTP/1.1\r\nhost: a.test\r\n\r\n")
      await arrived.promise
      const stopped = server.stop(false)
      const refused = connect(server.port, "127.0.0.1")
      say(
        "while it stops",
        await Promise.race([
          once(refused, "error").then(() => "refused"),
          once(refused, "connect").then(() => "connected")
        ])
      )
      release.resolve()
      say("what was in progress", (await answer).endsWith("late"))
      idle.destroy()
      await stopped
      say("stopped", true)
    }
  )
}

await served(
  (_, build, connection) => {
    const given = build()
    if (new URL(given.url).pathname === "/closed") return new Response("no", { status: 401 })
    const frames: RunFrames = {
      subject: "ada",
      requestId: "req",
      after: 0,
      frames: Stream.empty,
      deliver: (send) => Effect.forEach([1, 2, 3], (last) => send({ text: `frame ${last}`, last }), { discard: true })
    }
    return connection.upgrade(frames, { "x-request-id": "req" })
      ? Promise.resolve(undefined)
      : new Response("no upgrade")
  },
  async ({ port }) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/live`)
    const received: Array<string> = []
    socket.on("message", (data) => received.push(String(data)))
    const [upgrade] = await once(socket, "upgrade")
    const [code, reason] = await once(socket, "close")
    say("a WebSocket", [received, code, String(reason), upgrade.headers["x-request-id"]])
    const refused = new WebSocket(`ws://127.0.0.1:${port}/closed`)
    refused.on("error", () => {})
    const [, response] = await once(refused, "unexpected-response")
    say("an upgrade that is refused", response.statusCode)
    refused.terminate()
    say(
      "no WebSocket",
      (await raw(port, "GET /live HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n")).endsWith("no upgrade")
    )
  }
)

{
  const workMayEnd = Promise.withResolvers<void>()
  const workBegan = Promise.withResolvers<void>()
  const bodyLost = Promise.withResolvers<string>()
  await served(
    async (_, build, connection) => {
      const given = build()
      if (given.method === "POST") {
        await given.text().catch(() => bodyLost.resolve("lost"))
        return new Response("received")
      }
      if (new URL(given.url).pathname === "/work") {
        connection.idleAfter(240)
        workBegan.resolve()
        await workMayEnd.promise
      }
      return new Response("answered")
    },
    async ({ port }) => {
      const work = raw(port, "GET /work HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n")
      await workBegan.promise
      say("a connection that says nothing ends", await raw(port, ""))
      // When these requests start, `/work` has already sent nothing for its entire idle limit.
      const [half, kept] = await Promise.all([
        raw(port, "GET / HTTP/1.1\r\nhost:"),
        raw(port, "GET / HTTP/1.1\r\nhost: a.test\r\n\r\n"),
        raw(port, "POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 9\r\n\r\nabc")
      ])
      say("one that stops within a head", half.includes("200"))
      say("one that asks for nothing more", kept.endsWith("answered"))
      say("a body that stops arriving", await bodyLost.promise)
      workMayEnd.resolve()
      say("work without a byte for longer", (await work).endsWith("answered"))
    },
    { idleSeconds: 1 }
  )
}

/**
 * Connects a subscriber that answers only the first few pings. Returns everything it received except text frames, once the
 * server closes the connection or has sent enough pings.
 */
const subscriber = (port: number, answers: number) =>
  new Promise<ReadonlyArray<string>>((resolve) => {
    const seen: Array<string> = []
    const socket = connect(port, "127.0.0.1")
    const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
    socket.write(
      "GET /live HTTP/1.1\r\nhost: a.test\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    socket.on("data", (bytes) => {
      if (bytes[0] !== 0x89) return
      seen.push("ping")
      if (seen.length > answers) return
      socket.write(pong)
      if (seen.length < 2) return
      resolve(seen)
      socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve([...seen, "cut"]))
  })

await served(
  (_, build, connection) => {
    build()
    const frames: RunFrames = {
      subject: "ada",
      requestId: "req",
      after: 0,
      frames: Stream.empty,
      deliver: () => Effect.never
    }
    return connection.upgrade(frames, {}) ? Promise.resolve(undefined) : new Response("no upgrade")
  },
  async ({ port }) => {
    const [answering, deaf] = await Promise.all([subscriber(port, 2), subscriber(port, 0)])
    say("a subscriber that answers pings", answering)
    say("one that answers none", [deaf[0], deaf.at(-1)])
  },
  { socketIdleSeconds: 8 }
)
