import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"

/**
 * Serves responses chosen by the test on loopback until the Scope closes. `requests` records the requested paths, and
 * `authorizations` the authorization headers.
 */
export const httpServer = Effect.fnUntraced(function* (listener: RequestListener) {
  const requests: Array<string> = []
  const authorizations: Array<string | undefined> = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    authorizations.push(request.headers.authorization)
    listener(request, response)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const origin = `http://127.0.0.1:${port}`
  return { origin, port, url: `${origin}/repository.git`, requests, authorizations }
})
