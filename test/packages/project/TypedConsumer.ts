// Compiled in an empty project against the packages alone, with every strictness there is.
import { Effect, Layer, Redacted, Schema } from "effect"
import { type ApiError, makeClient, SvcClient, type SvcClientShape } from "@svc-dev/client"
import { type Capsule, Run, RunEvent, SvcApi } from "@svc-dev/schema"
import * as server from "@svc-dev/server"
import { TestPlane } from "@svc-dev/server/testing"

const named = (run: Run): string => `${run.id} ${run.status}`
export const decodeRun = Schema.decodeUnknownEffect(Run)
export const decodeEvent = Schema.decodeUnknownEffect(RunEvent)
export const groups: ReadonlyArray<string> = Object.keys(SvcApi.groups)
export const shown = (capsule: Capsule): string => capsule.name

const first = (client: SvcClientShape) =>
  Effect.map(client.workspaces.list({ query: {} }), ({ workspaces }) => workspaces[0]?.displayName)

export const program = Effect.gen(function* () {
  const plane = yield* TestPlane
  const { token } = yield* plane.createAccount("ada@example.test")
  const client = yield* makeClient({ baseUrl: plane.url, token })
  const { run } = yield* client.runs.read({ params: { runId: Schema.decodeSync(Run.fields.id)("run_a") } })
  return [yield* first(client), named(run)]
}).pipe(
  Effect.catchTag("ApiError", (error: ApiError) => Effect.succeed([error.code])),
  Effect.provide(Layer.merge(TestPlane.layer(), SvcClient.layer({ baseUrl: "", token: Redacted.make("") })))
)

export const layers: ReadonlyArray<string> = Object.keys(server)
