// `npm run packages`: the packages for npm, assembled from this checkout into dist/packages/. They share one version.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Path } from "effect"
import { cliPackage } from "./packages/CliPackage.ts"

const program = Effect.gen(function* () {
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const { bytes, name } = yield* cliPackage(root, path.join(root, "dist/packages/cli"))
  yield* Console.log(`dist/packages/cli  ${name}, ${Number(bytes / 1024n)} KiB`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
