// A third-party Node program that reads the service's capabilities and follows a Run with the typed client.
import { Console, Effect, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { followEvents, makeClient } from "../../../../src/client/index.ts"

const [, , baseUrl = "", token = "", runId = ""] = process.argv
const options = { baseUrl, token: Redacted.make(token) }

const program = Effect.gen(function* () {
  const client = yield* makeClient(options)
  const { features } = yield* client.discovery.capabilities()
  const events = yield* Stream.runCollect(followEvents(options, runId, 1))
  const refused = yield* Effect.flip(client.runs.read({ params: { runId: `run_${"q".repeat(24)}` } }))
  yield* Console.log(
    JSON.stringify({
      runtime: "bun" in process.versions ? "bun" : "node",
      runner: features["opentofu_runner"],
      events: [...events].map(({ seq }) => seq),
      refused: "code" in refused ? refused.code : String(refused)
    })
  )
})

void Effect.runPromise(program.pipe(Effect.provide(FetchHttpClient.layer)))
