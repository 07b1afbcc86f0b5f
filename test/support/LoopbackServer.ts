import { createServer, type RequestListener } from "node:http"
import { Effect } from "effect"

/** Runs a loopback server until the Scope closes, and returns its origin. */
export const loopback = Effect.fnUntraced(function* (listener: RequestListener) {
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const started = createServer(listener)
      started.listen(0, "127.0.0.1", () => resume(Effect.succeed(started)))
    }),
    (started) =>
      Effect.sync(() => {
        started.closeAllConnections()
        started.close()
      })
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
})
