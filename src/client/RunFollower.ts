import { Array as Arr, Effect, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { RefusalEnvelope } from "../../schema/api/Middleware.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import type { RunLogEntry } from "../../schema/events/RunEvent.ts"
import { DoneFrame, RunLogFrame } from "../../schema/events/RunFrame.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"
import type { ApiTransportShape } from "./ApiTransport.ts"
import { waitAfter } from "./SafeRepeat.ts"
import { UnreadableAnswer } from "./SvcError.ts"
import { authenticated, type ClientOptions } from "./SvcClient.ts"

/** An event in its transmitted form. Later releases may send kinds that are unknown to this release. */
export const WireEvent = Schema.Struct({
  seq: Schema.Int,
  at: Timestamp,
  kind: Schema.String,
  data: Schema.Record(Schema.String, Schema.Json)
})
export type WireEvent = typeof WireEvent.Type

const EventMessage = Schema.fromJsonString(
  Schema.Union([Schema.Struct({ events: Schema.Array(WireEvent) }), DoneFrame])
)
const LogMessage = Schema.fromJsonString(RunLogFrame)

const isOverload = (status: number): boolean => status === 429 || status >= 500

/**
 * Returns true if another connection may succeed, because the connection or the server failed but the request was not
 * refused.
 */
const isTransient = (error: unknown, returns: boolean): boolean => {
  if (error instanceof ApiError) return error.status === 429 || (returns && isOverload(error.status))
  if (!returns || !HttpClientError.isHttpClientError(error)) return false
  return error.response === undefined || isOverload(error.response.status)
}

const longestWait = 10_000

const decodeEventMessage = Schema.decodeEffect(EventMessage)
const decodeLogMessage = Schema.decodeEffect(LogMessage)
const decodeRefusal = HttpClientResponse.schemaBodyJson(RefusalEnvelope)

/** Reads a response. A refusal contains its reason in the envelope and its retry delay in a header. */
const accepted = (response: HttpClientResponse.HttpClientResponse) => {
  if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
  const asked = Number(response.headers["retry-after"] ?? Number.NaN)
  return Effect.matchEffect(decodeRefusal(response), {
    onFailure: () => HttpClientResponse.filterStatusOk(response),
    onSuccess: (error) =>
      Effect.fail(
        Number.isSafeInteger(asked) && asked >= 0
          ? new ApiError({ code: error.code, message: error.message, retryAfter: asked })
          : error
      )
  })
}

interface Message<A> {
  readonly items: ReadonlyArray<A>
  readonly done: boolean
}

/** Opens one connection after another until a frame reports the end. */
const follow = <A extends { readonly seq: number }>(
  { baseUrl, client, returns }: ApiTransportShape,
  path: string,
  after: number,
  decode: (text: string) => Effect.Effect<Message<A>, Schema.SchemaError>
) =>
  Stream.suspend(() => {
    let last = after
    let connections = 0
    let fruitless = 0
    let asked: number | undefined
    const connection = Stream.unwrap(
      Effect.gen(function* () {
        if (connections++ > 0) {
          const wait = waitAfter(fruitless++, longestWait)
          const chosen = asked ?? wait
          asked = undefined
          yield* Effect.sleep(chosen)
        }
        const request = HttpClientRequest.get(`${baseUrl}${path}`).pipe(
          HttpClientRequest.setHeaders({ accept: "text/event-stream", "last-event-id": String(last) })
        )
        const response = yield* Effect.flatMap(client.execute(request), accepted)
        return response.stream
      })
    ).pipe(
      Stream.decodeText,
      Stream.pipeThroughChannel(Sse.decode()),
      Stream.mapEffect((event) => Effect.mapError(decode(event.data), ({ issue }) => new UnreadableAnswer(issue))),
      Stream.catch((error) => {
        if (!isTransient(error, returns)) return Stream.fail(error)
        if (error instanceof ApiError && error.retryAfter !== undefined) asked = error.retryAfter * 1000
        return Stream.empty
      })
    )
    return Stream.forever(connection).pipe(
      Stream.takeUntil(({ done }) => done),
      Stream.map(({ items }) => items),
      Stream.filter(Arr.isReadonlyArrayNonEmpty),
      Stream.flattenArray,
      Stream.tap(({ seq }) =>
        Effect.sync(() => {
          last = seq
          fruitless = 0
        })
      )
    )
  })

const nothingMore = { items: [], done: true }

/** Streams the Run's events that follow position `after`, until the Run is final. */
export const eventsOver = (transport: ApiTransportShape, runId: string, after: number) =>
  follow<WireEvent>(transport, `/api/v1/runs/${encodeURIComponent(runId)}/events`, after, (text) =>
    Effect.map(decodeEventMessage(text), (message) =>
      "events" in message ? { items: message.events, done: false } : nothingMore
    )
  )

/** Streams the Run's log lines that follow position `after`, until the Run stops executing. */
export const logsOver = (transport: ApiTransportShape, runId: string, after: number) =>
  follow<RunLogEntry>(transport, `/api/v1/runs/${encodeURIComponent(runId)}/logs`, after, (text) =>
    Effect.map(decodeLogMessage(text), (message) =>
      "entries" in message ? { items: message.entries, done: false } : nothingMore
    )
  )

const transportOf = (options: ClientOptions) =>
  Effect.map(HttpClient.HttpClient, (client) => ({
    baseUrl: options.baseUrl,
    client: authenticated(options)(client),
    returns: true
  }))

/**
 * Streams the Run's events that follow position `after`, until the Run is final. Resumes dropped connections without gaps or
 * duplicates.
 */
export const followEvents = (options: ClientOptions, runId: string, after = 0) =>
  Stream.unwrap(Effect.map(transportOf(options), (transport) => eventsOver(transport, runId, after)))

/** Streams the Run's log lines that follow position `after`, until the Run stops executing. */
export const followLogs = (options: ClientOptions, runId: string, after = 0) =>
  Stream.unwrap(Effect.map(transportOf(options), (transport) => logsOver(transport, runId, after)))
