import { ByteSize, Effect, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { longestReadHere, readDocument } from "../../runner/document/Documents.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import type { JsonLimits } from "../../schema/json/JsonLimits.ts"
import { Exchange, type ExchangeShape } from "./Exchange.ts"

/** Maximum time for a body to arrive. A file gets more time than typed input. */
type BodyDeadline = "30 seconds" | "5 minutes"
const bodyDeadline: BodyDeadline = "30 seconds"

// Limits for most bodies, which are parsed and decoded on the thread that handles requests.
const defaultLimits: JsonLimits = {
  maxBytes: longestReadHere,
  maxDepth: 64,
  maxNodes: 100_000,
  maxKeyBytes: 1024,
  maxStringBytes: longestReadHere,
  exactNumbers: true
}

/** Stricter limits for bodies that arrive before the sender is authenticated. */
const strangerLimits: JsonLimits = {
  ...defaultLimits,
  maxBytes: 64 * 1024,
  maxDepth: 16,
  maxNodes: 1000,
  maxStringBytes: 64 * 1024
}

/** Endpoints with different limits, keyed by `group.endpoint`. */
const ownLimits: ReadonlyMap<string, JsonLimits> = new Map([
  ["invitations.inspect", strangerLimits],
  ["invitations.decline", strangerLimits]
])

/** Returns the body limits of an endpoint, given as `group.endpoint`. */
export const bodyLimitsOf = (endpoint: string): JsonLimits => ownLimits.get(endpoint) ?? defaultLimits

const tooLarge = (maxBytes: number) =>
  new ApiError({ code: "request_too_large", message: `The body is larger than ${maxBytes} bytes.` })

const unsupported = (message: string) => new ApiError({ code: "unsupported_media_type", message })

const notWhole = () =>
  new ApiError({ code: "invalid_request", message: "The body of the request did not arrive whole." })

const tooSlow = (deadline: BodyDeadline) =>
  new ApiError({ code: "invalid_request", message: `The body of the request did not arrive within ${deadline}.` })

const jsonContentType = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i

const mediaTypeRefusal = (headers: HttpServerRequest.HttpServerRequest["headers"]): ApiError | undefined => {
  const encoding = headers["content-encoding"]
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return unsupported("Compressed bodies are not accepted. Send the body as it is.")
  }
  return undefined
}

const declaredLength = (headers: HttpServerRequest.HttpServerRequest["headers"]): number | undefined => {
  const text = headers["content-length"]
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined
}

/** Returns true if the headers show that the request has no body. */
const isEmpty = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  declaredLength(headers) === 0 || (source instanceof Request && source.body === null)

/**
 * Reads the bytes of the request's body once, within `maxBytes` and the body deadline. Fails with `request_too_large`, with
 * `unsupported_media_type` for a compressed body, and with `invalid_request` if the body does not arrive in time.
 */
export const readBodyBytes = Effect.fn("readBodyBytes")(function* (
  maxBytes: number,
  deadline: BodyDeadline = bodyDeadline
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const refusal = mediaTypeRefusal(request.headers)
  if (refusal !== undefined) return yield* refusal
  if ((declaredLength(request.headers) ?? 0) > maxBytes) return yield* tooLarge(maxBytes)
  const buffer = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.catch((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? tooLarge(maxBytes)
        : notWhole()
    ),
    Effect.timeoutOrElse({
      duration: deadline,
      orElse: () => Effect.fail(tooSlow(deadline))
    })
  )
  const exchange = yield* Exchange
  exchange.bodyReceived()
  return new Uint8Array(buffer)
})

/** Streams the bytes of a body as they arrive, within `maxBytes` and the body deadline. Fails like `readBodyBytes`. */
export const arrivingBody = (
  maxBytes: number
): Stream.Stream<Uint8Array, ApiError, HttpServerRequest.HttpServerRequest> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const refusal = mediaTypeRefusal(request.headers)
      if (refusal !== undefined) return yield* refusal
      if ((declaredLength(request.headers) ?? 0) > maxBytes) return yield* tooLarge(maxBytes)
      const exchange = yield* Exchange
      if (isEmpty(request)) {
        exchange.bodyReceived()
        return Stream.empty
      }
      let length = 0
      return request.stream.pipe(
        Stream.mapError(notWhole),
        Stream.mapEffect((bytes) => {
          length += bytes.length
          return length > maxBytes ? Effect.fail(tooLarge(maxBytes)) : Effect.succeed(bytes)
        }),
        Stream.interruptWhen(Effect.andThen(Effect.sleep(bodyDeadline), tooSlow(bodyDeadline))),
        Stream.onEnd(Effect.sync(exchange.bodyReceived))
      )
    })
  )

/** Reads a body that is a file. Refuses a body whose type differs from the type that the endpoint declares. */
export const readFileBody = Effect.fn("readFileBody")(function* ({ maxBytes }: { readonly maxBytes: number }) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const type = request.headers["content-type"] ?? ""
  if (!/^application\/octet-stream\s*$/i.test(type)) {
    return yield* unsupported("The body is the file itself. Send `Content-Type: application/octet-stream`.")
  }
  return yield* readBodyBytes(maxBytes, "5 minutes")
})

interface ReadBody {
  readonly limits: JsonLimits
  readonly value: unknown
}

/**
 * Bodies that have already been read. A request is admitted a second time in its transaction, when its body can no longer be
 * read.
 */
const readBodies = new WeakMap<ExchangeShape, ReadBody>()

/** Caches the body, so that concurrent readers of a request get the same value. */
const remember = (exchange: ExchangeShape, body: ReadBody): unknown => {
  readBodies.set(exchange, body)
  return body.value
}

/**
 * Checks the raw bytes of the request's body and reads its JSON value. Returns `undefined` without a body. Reads each request's
 * body only once.
 */
export const readJsonBody = Effect.fn("readJsonBody")(function* (limits: JsonLimits) {
  const exchange = yield* Exchange
  const known = readBodies.get(exchange)
  if (known?.limits === limits) return known.value
  return remember(exchange, { limits, value: yield* readJson(limits) })
})

const readJson = Effect.fnUntraced(function* (limits: JsonLimits) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const contentType = request.headers["content-type"]
  // Ignore the type if there is no body, because clients send arbitrary types in that case.
  if (!isEmpty(request) && contentType !== undefined && !jsonContentType.test(contentType)) {
    return yield* unsupported("Bodies are JSON. Send `Content-Type: application/json`.")
  }
  const bytes = yield* readBodyBytes(limits.maxBytes)
  if (bytes.byteLength === 0) return undefined
  if (contentType === undefined)
    return yield* unsupported("The body has no type. Send `Content-Type: application/json`.")
  return yield* Effect.mapError(readDocument("json", bytes, limits), (refusal) =>
    refusal.reason === "too_large"
      ? tooLarge(limits.maxBytes)
      : new ApiError({
          code: "invalid_request",
          message:
            refusal.position === undefined
              ? refusal.message
              : `${refusal.message} (line ${refusal.position.line}, column ${refusal.position.column})`
        })
  )
})
