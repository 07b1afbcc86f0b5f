// A deployment service on an embedded control plane. On Bun or Node:
//   PLANE_DATA=./plane PLANE_URL=http://127.0.0.1:3000 bun examples/embedded/Main.ts
//   curl -d '{"name":"shop","url":"https://git.example.com/shop.git","environment":"production"}' \
//     -H 'content-type: application/json' http://127.0.0.1:3000/deployments
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Effect, Layer, Option } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { Administration, ControlPlane, layerConfig, logging } from "@svc-dev/server"
import { application } from "./Application.ts"
import { Deployments } from "./Deployments.ts"

const robot = "deployments@example.com"

/** The account for which the application acts. It has no password, so nobody can sign in with it. */
const actor = Layer.unwrap(
  Effect.gen(function* () {
    const administration = yield* Administration
    const known = yield* administration.findAccount(robot)
    const { subject } = Option.isSome(known)
      ? known.value
      : (yield* administration.createAccount({ email: robot, displayName: "Deployments" })).user
    return ControlPlane.user(subject)
  })
)

const plane = layerConfig({
  dataDir: Config.String("PLANE_DATA"),
  baseUrl: Config.String("PLANE_URL"),
  settings: {
    gitAllowOrigins: Config.String("PLANE_GIT_ORIGINS").pipe(
      Config.map((origins) => origins.split(",")),
      Config.withDefault<ReadonlyArray<string>>([])
    )
  },
  drain: { grace: Config.succeed("20 seconds") }
})

const server = NodeHttpServer.layer(createServer, { port: 3000, host: "127.0.0.1" })

const main = HttpRouter.serve(application).pipe(
  Layer.provide(Deployments.layer.pipe(Layer.provide(actor))),
  Layer.provide(plane),
  Layer.provide(server),
  Layer.provide(logging({ level: "info", format: "pretty" }))
)

NodeRuntime.runMain(Layer.launch(main))
