import { Context, Duration, Effect, Layer, Random, Schedule } from "effect"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { Draining } from "../streams/Draining.ts"
import { WebSockets } from "../streams/WebSockets.ts"
import { makeRequestId } from "./Exchange.ts"
import type { WebHandler } from "./HttpApplication.ts"
import { HttpListener } from "./HttpListener.ts"
import { plainErrorResponse } from "./PlainErrorResponse.ts"

const drainDeadline = Duration.seconds(20)

const unavailable = new ApiError({
  code: "verification_unavailable",
  message: "The service is starting or stopping. Try again in a moment."
})

/**
 * The HTTP face for the host's own server. Its `handle` takes every request of the origin: API, dashboard, issuer and
 * hooks. It answers 503 until the service is up and once it is closing.
 */
export class MountedHandler extends Context.Service<
  MountedHandler,
  {
    /** A second argument may carry `Exchange`: the client's address, and the upgrade to WebSocket. */
    readonly handle: WebHandler
  }
>()("svc/http/MountedHandler") {
  /**
   * Replaces the listener; no port is opened. `baseUrl` is the public origin under which the host serves it. Closing
   * the Scope ends live streams and waits up to 20 seconds for requests in progress.
   */
  static readonly layer = (baseUrl: string) =>
    Layer.effectContext(
      Effect.gen(function* () {
        const draining = yield* Draining
        const sockets = yield* WebSockets
        const random = yield* Random.Random
        let mounted: WebHandler | undefined
        let open = 0

        const handle: WebHandler = (request, context) => {
          if (mounted === undefined) return Promise.resolve(plainErrorResponse(unavailable, makeRequestId(random)))
          open++
          return mounted(request, context).finally(() => {
            open--
          })
        }

        const answered = Effect.sync(() => open).pipe(
          Effect.repeat({ until: (left) => left === 0, schedule: Schedule.spaced("10 millis") }),
          Effect.timeoutOption(drainDeadline)
        )

        const { hostname, port, protocol } = new URL(baseUrl)
        const listener = HttpListener.of({
          address: { host: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) },
          url: baseUrl,
          mount: (handler) =>
            Effect.acquireRelease(
              Effect.sync(() => {
                mounted = handler
              }),
              () =>
                Effect.suspend(() => {
                  mounted = undefined
                  return draining.begin.pipe(Effect.andThen(sockets.drain), Effect.andThen(answered))
                })
            )
        })
        return Context.make(HttpListener, listener).pipe(Context.add(MountedHandler, { handle }))
      })
    )
}
