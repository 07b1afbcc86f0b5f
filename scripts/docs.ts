// `npm run docs` builds the documentation as static pages in dist/docs, with search, and fails on a broken link. A server that runs
// from the sources serves them at /docs/, and a binary contains them.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Path } from "effect"
import { buildDocs } from "./DocsBuild.ts"

const program = Effect.gen(function* () {
  const path = yield* Path.Path
  yield* buildDocs(path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url))))
  yield* Console.log("Built dist/docs. `npm start` serves it at /docs/; `npm run docs:preview` serves it without svc.")
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
