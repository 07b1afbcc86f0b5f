import { Context, Effect, Layer } from "effect"
import { Draining } from "../streams/Draining.ts"
import { WebSockets } from "../streams/WebSockets.ts"
import type { WebHandler } from "./HttpApplication.ts"
import { HttpListener } from "./HttpListener.ts"
import { makeRequestGate } from "./RequestGate.ts"

/**
 * HTTP handler for a host's server. `handle` accepts every request to the origin: API, dashboard, issuer and hooks. It
 * responds with 503 until svc is ready, and again while svc is closing.
 */
export class MountedHandler extends Context.Service<
  MountedHandler,
  {
    /** Handles a request. The second argument may include an `Exchange` with the client's address and the WebSocket upgrade. */
    readonly handle: WebHandler
  }
>()("svc/src/http/MountedHandler") {
  /**
   * Takes the place of the listener, but opens no port. `baseUrl` is the public origin at which the host serves the handler.
   * When the scope closes, the layer ends live streams and waits up to 20 seconds for requests in progress.
   */
  static readonly layer = (baseUrl: string, corsOrigins: ReadonlyArray<string> = []) =>
    Layer.effectContext(
      Effect.gen(function* () {
        const draining = yield* Draining
        const sockets = yield* WebSockets
        const gate = yield* makeRequestGate(corsOrigins)
        const { hostname, port, protocol } = new URL(baseUrl)
        const listener = HttpListener.of({
          address: { host: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) },
          url: baseUrl,
          mount: (handler) =>
            Effect.acquireRelease(gate.open(handler), () =>
              gate.close.pipe(
                Effect.andThen(draining.begin),
                Effect.andThen(sockets.drain),
                Effect.andThen(gate.settled)
              )
            )
        })
        return Context.make(HttpListener, listener).pipe(Context.add(MountedHandler, { handle: gate.handle }))
      })
    )
}
