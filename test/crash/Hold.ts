import { existsSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { Transform } from "node:stream"
import { Deferred, Effect } from "effect"
import type { Stage } from "./Scenario.ts"

/** Work that a test blocks at a named point. */
export interface Hold {
  /** Waits until work is blocked at that point. */
  readonly reached: Effect.Effect<void>
  /** Releases the blocked work, and lets later work pass that point. */
  readonly release: Effect.Effect<void>
}

/** Makes the demo provider wait at this stage of note `b`. */
export const holdNote = (notesDir: string, stage: Exclude<Stage, "sync">) =>
  Effect.sync((): Hold => {
    const hold = `${notesDir}/hold-${stage}-b`
    const held = `${notesDir}/held-${stage}-b`
    writeFileSync(hold, "")
    return {
      reached: Effect.gen(function* () {
        while (!existsSync(held)) yield* Effect.sleep("5 millis")
      }),
      release: Effect.sync(() => rmSync(hold))
    }
  })

/** The request in which a Git client with protocol version 2 fetches objects. */
const fetching = "command=fetch"

/** Starts a proxy in front of a local Git server, and returns its origin. The proxy holds requests that fetch objects. */
export const holdOrigin = Effect.fnUntraced(function* (origin: string) {
  const reached = yield* Deferred.make<void>()
  const released = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => sockets.delete(socket))
  }
  const gate = () =>
    new Transform({
      transform: (chunk: Buffer, _, done) => {
        if (!chunk.includes(fetching)) return done(null, chunk)
        Deferred.doneUnsafe(reached, Effect.void)
        void released.promise.then(() => done(null, chunk))
      }
    })
  const server = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const listening = createServer((socket) => {
        const target = connect(Number(new URL(origin).port), "127.0.0.1")
        keep(socket)
        keep(target)
        socket.pipe(gate()).pipe(target).pipe(socket)
      })
      listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
    }),
    (listening) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        listening.close()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const hold: Hold = { reached: Deferred.await(reached), release: Effect.sync(() => released.resolve()) }
  return { origin: `http://127.0.0.1:${port}`, hold }
})
