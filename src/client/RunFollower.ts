import { Effect, Schedule, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { RunEvent, RunLogEntry } from "../../schema/events/RunEvent.ts"
import type { ClientOptions } from "./SvcClient.ts"

const EventMessage = Schema.fromJsonString(
  Schema.Union([Schema.Struct({ events: Schema.Array(RunEvent) }), Schema.Struct({ done: Schema.Literal(true) })])
)
const LogMessage = Schema.fromJsonString(
  Schema.Union([Schema.Struct({ entries: Schema.Array(RunLogEntry) }), Schema.Struct({ done: Schema.Literal(true) })])
)

/** The server ended the stream before the Run ended; it is resumed where it stopped. */
export class StreamCut extends Schema.TaggedError<StreamCut>()("StreamCut", {}) {}

/** Whether a retry may help: nothing was refused, but the connection or the server failed. */
const isTransient = (error: unknown): boolean => {
  if (error instanceof StreamCut) return true
  if (!HttpClientError.isHttpClientError(error)) return false
  const status = error.response?.status
  return status === undefined || status === 429 || status >= 500
}

const reconnect = Schedule.spaced("1 second").pipe(Schedule.while(({ input }) => isTransient(input)))

const decodeEventMessage = Schema.decodeEffect(EventMessage)
const decodeLogMessage = Schema.decodeEffect(LogMessage)

interface Message<A> {
  readonly items: ReadonlyArray<A>
  readonly done: boolean
}

const follow = <A extends { readonly seq: number }, E>(
  options: ClientOptions,
  path: string,
  after: number,
  decode: (text: string) => Effect.Effect<Message<A>, E>
) =>
  Stream.suspend(() => {
    let last = after
    const once = Stream.unwrap(
      Effect.gen(function* () {
        const client = yield* HttpClient.HttpClient
        const request = HttpClientRequest.get(`${options.baseUrl}${path}`).pipe(
          HttpClientRequest.setHeaders({ accept: "text/event-stream", "last-event-id": String(last) }),
          options.token === undefined ? (same) => same : HttpClientRequest.bearerToken(options.token)
        )
        const response = yield* Effect.flatMap(client.execute(request), HttpClientResponse.filterStatusOk)
        return response.stream
      })
    ).pipe(
      Stream.decodeText,
      Stream.pipeThroughChannel(Sse.decode()),
      Stream.mapEffect((event) => decode(event.data)),
      Stream.concat(Stream.fail(new StreamCut())),
      Stream.takeUntil(({ done }) => done),
      Stream.flatMap(({ items }) => Stream.fromIterable(items)),
      Stream.tap(({ seq }) =>
        Effect.sync(() => {
          last = seq
        })
      )
    )
    return Stream.retry(once, reconnect)
  })

/** The events of a Run after `after`, until it is final. Cut connections are resumed without gap or duplicate. */
export const followEvents = (options: ClientOptions, runId: string, after = 0) =>
  follow(options, `/api/v1/runs/${runId}/events`, after, (text) =>
    Effect.map(decodeEventMessage(text), (message) =>
      "events" in message ? { items: message.events, done: false } : { items: [], done: true }
    )
  )

/** The log lines of a Run after `after`, until it stops executing. */
export const followLogs = (options: ClientOptions, runId: string, after = 0) =>
  follow(options, `/api/v1/runs/${runId}/logs`, after, (text) =>
    Effect.map(decodeLogMessage(text), (message) =>
      "entries" in message ? { items: message.entries, done: false } : { items: [], done: true }
    )
  )
