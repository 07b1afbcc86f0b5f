// The application from `examples/embedded` in a separate project, with a control plane for tests. Prints the responses that it
// receives.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { TestControlPlane, layer } from "@svc-dev/server/testing"
import { Context, Effect, Layer, Redacted, References, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { application } from "../../../examples/embedded/Application.ts"
import { Deployments } from "../../../examples/embedded/Deployments.ts"

const main = `resource "terraform_data" "greeting" {
  input = "Hello"
}

output "greeting" {
  value = terraform_data.greeting.output
}
`

const served = HttpRouter.serve(application, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(Deployments.layer.pipe(Layer.provide(TestControlPlane.actor))),
  Layer.provideMerge(layer({ repositories: { greeting: { "main.tf": main } } })),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "Error"))
)

const Deployed = Schema.fromJsonString(
  Schema.Struct({ status: Schema.String, runId: Schema.String, outputs: Schema.Record(Schema.String, Schema.Json) })
)

const say = (...found: ReadonlyArray<unknown>) => Effect.sync(() => void process.stdout.write(`${found.join(" ")}\n`))

const program = Effect.gen(function* () {
  const services = yield* Layer.build(served)
  const url = HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address)
  const { repository, token } = Context.get(services, TestControlPlane)
  const text = (path: string, init?: RequestInit) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}${path}`, init)
      return { status: response.status, text: await response.text() }
    })
  const answered = yield* text("/deployments", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "greeting", url: repository("greeting").url, environment: "test" })
  })
  const deployed = yield* Schema.decodeEffect(Deployed)(answered.text)
  yield* say(answered.status, deployed.status, JSON.stringify(deployed.outputs))
  const events = yield* text(`/deployments/${deployed.runId}/events`)
  yield* say(events.status, /event: run\.succeeded/.test(events.text))
  const authorization = `Bearer ${Redacted.value(token)}`
  const api = yield* text("/svc/api/v1/workspaces", { headers: { authorization } })
  yield* say(api.status, (yield* text("/svc/api/v1/workspaces")).status)
}).pipe(Effect.scoped)

await Effect.runPromise(program)
