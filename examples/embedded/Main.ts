// bun examples/embedded/Main.ts https://git.example.com/team/module.git
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { installEmbedded } from "./Install.ts"

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const url = process.argv[2]
  if (url === undefined) return yield* Console.error("Usage: bun examples/embedded/Main.ts <Git address>")
  const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-embedded-" })
  const installed = yield* installEmbedded({
    url,
    dataDir,
    allowOrigins: process.argv[3],
    onEvent: (run, event) => Console.log(`${run} ${event}`)
  })
  yield* Console.log(`The Capsule is ${installed.status}.`, installed.outputs)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(Layer.mergeAll(NodeServices.layer, FetchHttpClient.layer))))
