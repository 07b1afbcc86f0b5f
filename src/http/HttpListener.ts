import { Clock, Context, type Duration, Effect, Layer, Random, Schema, type Scope } from "effect"
import { SkipDrainGrace } from "../../actors/running/execution/SkipDrainGrace.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { Draining } from "../streams/Draining.ts"
import type { RunFrames } from "../streams/RunFrames.ts"
import { WebSockets } from "../streams/WebSockets.ts"
import { startBunServer } from "./BunServer.ts"
import { crossOriginRefusal } from "./CrossOrigin.ts"
import { clientAddress, parseAddressRange } from "../http-kit/ClientAddress.ts"
import { Exchange, makeRequestId } from "../http-kit/Exchange.ts"
import type { WebHandler } from "./HttpApplication.ts"
import { formatListenAddress, type ListenAddress } from "../http-kit/ListenAddress.ts"
import { plainErrorResponse } from "./PlainErrorResponse.ts"
import { requestTurns } from "./RequestTurns.ts"
import { type ServerOptions, type StartServer, unnamedHost } from "./ServerPort.ts"

// Idle timeout, in seconds, while receiving a request. The body deadline limits a body that arrives slowly.
const arrivalIdleSeconds = 30
// Idle timeout, in seconds, while the server prepares a response. Live streams send something every 10 seconds.
const workIdleSeconds = 240
const subscriberIdleSeconds = 120
const drainDeadline = "20 seconds"

/** Raised if the server cannot listen at the address. */
export class ListenRefused extends Schema.TaggedError<ListenRefused>()("ListenRefused", { message: Schema.String }) {}

/**
 * - `drainDelay`: time between the first not-ready response and closing, so that a load balancer can react -
 *   `trustedProxies`: addresses and ranges whose `X-Forwarded-For` is trusted - `corsOrigins`: origins whose pages may read
 *   responses even while the server is starting or stopping
 */
export interface ListenerOptions {
  readonly drainDelay?: Duration.Input | undefined
  readonly trustedProxies?: ReadonlyArray<string> | undefined
  readonly corsOrigins?: ReadonlyArray<string> | undefined
}

/** Loads the server for this runtime. A compiled binary omits the server for the other runtime. */
const startServer = async (): Promise<StartServer> =>
  typeof Bun === "undefined" ? (await import("./NodeServer.ts")).startNodeServer : startBunServer

const hostPattern = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/

const isHost = (host: string) => hostPattern.test(host) && URL.canParse(`http://${host}/`)

const malformedRequest = new ApiError({
  code: "invalid_request",
  message: "The request does not name one host. Send one well-formed Host header."
})

const stopping = new ApiError({
  code: "verification_unavailable",
  message: "The server is stopping and takes no new work. Try again in a moment."
})

const starting = new ApiError({
  code: "verification_unavailable",
  message: "The server is starting. Try again in a moment."
})

const readMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

const healthPaths: ReadonlySet<string> = new Set(["/healthz", "/readyz"])

const failed = new ApiError({ code: "internal_error", message: "The server failed on this request." })

const hasBody = (request: Request) =>
  request.headers.has("transfer-encoding") || Number(request.headers.get("content-length") ?? "0") > 0

/**
 * The listening socket. The socket opens before the application exists, so that its address is known early. Until a handler
 * is mounted, the listener responds with 503, or with 200 on `/healthz`. When the handler is unmounted, the listener drains:
 * new requests are refused with 503, and live streams end at a position from which clients can resume. Requests in progress
 * get time to finish, unless `SkipDrainGrace` completes first.
 */
export class HttpListener extends Context.Service<
  HttpListener,
  {
    readonly address: ListenAddress
    /** `http://host:port`. */
    readonly url: string
    /** Handles requests with `handler` until the scope closes. Drains before it removes the handler. */
    readonly mount: (handler: WebHandler) => Effect.Effect<void, never, Scope.Scope>
  }
>()("svc/src/http/HttpListener") {
  static readonly layer = (address: ListenAddress, options: ListenerOptions = {}) =>
    Layer.effect(
      HttpListener,
      Effect.gen(function* () {
        const sockets = yield* WebSockets
        const draining = yield* Draining
        const random = yield* Random.Random
        const trusted = (options.trustedProxies ?? []).flatMap((text) => {
          const range = parseAddressRange(text)
          return range === undefined ? [] : [range]
        })
        const readable = crossOriginRefusal(options.corsOrigins ?? [])
        // The last accepted host, as a cache: nearly all requests to a server have the same host.
        let knownHost: string | undefined
        let mounted: WebHandler | undefined
        const clock = yield* Clock.Clock
        const turns = requestTurns(() => clock.monotonicTimeNanosUnsafe())

        const answer: ServerOptions["answer"] = ({ host, url }, build, connection) => {
          const requestId = makeRequestId(random)
          const target = URL.parse(url, `http://${unnamedHost}`)
          // Accept a health check without a host, because load balancers may use HTTP/1.0. The response does not depend on the
          // host.
          const isCheck = host === null && target?.host === unnamedHost && healthPaths.has(target.pathname)
          if (!isCheck && (host === null || (host !== knownHost && !isHost(host)))) {
            return plainErrorResponse(malformedRequest, requestId)
          }
          // Refuse invalid URLs and URLs with credentials, because a `Request` cannot be created for them.
          if (target === null || target.username !== "" || target.password !== "") {
            return plainErrorResponse(malformedRequest, requestId)
          }
          const buildRequest = () => {
            if (!isCheck) return build()
            const { headers, method } = build()
            return new Request(target, { headers, method: readMethods.has(method) ? method : "POST" })
          }
          if (host !== null) knownHost = host
          if (mounted === undefined) {
            // Respond even during a migration, so that a supervisor does not kill the process.
            return target.pathname === "/healthz"
              ? Response.json({ status: "ok" })
              : readable(buildRequest(), plainErrorResponse(starting, requestId))
          }
          const request = buildRequest()
          if (draining.begun() && !readMethods.has(request.method)) {
            return readable(request, plainErrorResponse(stopping, requestId))
          }
          if (!hasBody(request)) connection.idleAfter(workIdleSeconds)
          const handler = mounted
          const from = request.headers.get("x-forwarded-for")
          const remoteAddress = clientAddress(connection.remoteAddress, from, trusted)
          return turns.begin(remoteAddress, async (turn) => {
            let upgraded = false
            const exchange = {
              requestId,
              turn,
              remoteAddress,
              bodyReceived: () => connection.idleAfter(workIdleSeconds),
              upgrade: (subscription: RunFrames) => {
                upgraded = connection.upgrade(subscription, { "x-request-id": requestId })
                return upgraded
              }
            }
            const response = await handler(request, Context.make(Exchange, exchange))
            return upgraded ? undefined : response
          })
        }

        const server = yield* Effect.acquireRelease(
          Effect.tryPromise({
            try: async () =>
              (await startServer())({
                address,
                idleSeconds: arrivalIdleSeconds,
                socketIdleSeconds: subscriberIdleSeconds,
                answer,
                failed: () => plainErrorResponse(failed, makeRequestId(random)),
                open: sockets.open
              }),
            catch: (cause) =>
              new ListenRefused({
                message: `Listening on ${formatListenAddress(address)} failed (${cause instanceof Error ? cause.message : String(cause)}). Choose another address.`
              })
          }),
          (server) => Effect.promise(() => server.stop(true))
        )

        const skipGrace = yield* SkipDrainGrace
        const abandon = Effect.promise(() => server.stop(true))
        const drain = yield* Effect.cached(
          draining.begin.pipe(
            Effect.andThen(Effect.raceFirst(Effect.sleep(options.drainDelay ?? 0), skipGrace)),
            Effect.andThen(sockets.drain),
            Effect.andThen(
              Effect.promise(() => server.stop(false)).pipe(
                Effect.raceFirst(Effect.andThen(Effect.raceFirst(Effect.sleep(drainDeadline), skipGrace), abandon))
              )
            )
          )
        )

        const bound: ListenAddress = { host: address.host, port: server.port }
        return HttpListener.of({
          address: bound,
          url: `http://${formatListenAddress(bound)}`,
          mount: (handler) =>
            Effect.acquireRelease(
              Effect.sync(() => {
                mounted = handler
              }),
              () => drain
            )
        })
      })
    )
}
