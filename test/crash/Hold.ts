import { existsSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { Deferred, Effect } from "effect"
import type { Stage } from "./Scenario.ts"

/** Work that is held at one place. */
export interface Hold {
  /** Waits until something is held there. */
  readonly reached: Effect.Effect<void>
  /** Lets it go on, and everything that comes later. */
  readonly release: Effect.Effect<void>
}

/** Holds the demo provider at a step of the note `b`. */
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

/** A way to a server of this machine that is closed at first. Answers its own origin. */
export const holdOrigin = Effect.fnUntraced(function* (origin: string) {
  const reached = yield* Deferred.make<void>()
  const released = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => sockets.delete(socket))
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const listening = createServer((socket) => {
        keep(socket)
        Deferred.doneUnsafe(reached, Effect.void)
        void released.promise.then(() => {
          const target = connect(Number(new URL(origin).port), "127.0.0.1")
          keep(target)
          socket.pipe(target).pipe(socket)
        })
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
  const { port }: Pick<AddressInfo, "port"> = typeof address === "object" && address !== null ? address : { port: 0 }
  const hold: Hold = { reached: Deferred.await(reached), release: Effect.sync(() => released.resolve()) }
  return { origin: `http://127.0.0.1:${port}`, hold }
})
