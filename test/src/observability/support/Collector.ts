import { Effect, Schema } from "effect"
import { fetchServer } from "../../../support/FetchServer.ts"

const Traces = Schema.fromJsonString(
  Schema.Struct({
    resourceSpans: Schema.Array(
      Schema.Struct({
        scopeSpans: Schema.Array(
          Schema.Struct({
            spans: Schema.Array(
              Schema.Struct({
                traceId: Schema.String,
                spanId: Schema.String,
                parentSpanId: Schema.optional(Schema.String),
                name: Schema.String,
                attributes: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.Unknown }))
              })
            )
          })
        )
      })
    )
  })
)

const decodeTraces = Schema.decodeEffect(Traces)

/** Runs a collector on loopback until the Scope closes. */
export const collector = Effect.gen(function* () {
  const received: Array<{ readonly path: string; readonly body: string }> = []
  const origin = yield* fetchServer(async (request) => {
    const bytes = new Uint8Array(await request.arrayBuffer())
    const plain = request.headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(bytes) : bytes
    received.push({ path: new URL(request.url).pathname, body: new TextDecoder().decode(plain) })
    return Response.json({})
  })
  const bodies = (path: string) => received.filter((request) => request.path === path).map(({ body }) => body)
  return {
    origin,
    bodies,
    /** Returns all received telemetry as one string. */
    everything: () => received.map(({ body }) => body).join("\n"),
    spans: Effect.suspend(() => Effect.forEach(bodies("/v1/traces"), (body) => decodeTraces(body))).pipe(
      Effect.map((decoded) =>
        decoded.flatMap(({ resourceSpans }) =>
          resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
        )
      )
    )
  }
})
