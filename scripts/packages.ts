// `npm run packages` assembles the npm packages from this checkout in dist/packages/. All packages have the same version.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Path } from "effect"
import { cliPackage } from "./packages/CliPackage.ts"
import { dashboardPackage } from "./packages/DashboardPackage.ts"
import { compileLibrary } from "./packages/Library.ts"
import { libraryPackages } from "./packages/LibraryPackages.ts"

const program = Effect.gen(function* () {
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const out = path.join(root, "dist/packages")
  const library = path.join(root, "dist/library")
  yield* compileLibrary(root, library)
  for (const name of yield* libraryPackages(root, library, out)) yield* Console.log(`dist/packages/${name}`)
  yield* dashboardPackage(root, path.join(out, "dashboard"), "best")
  yield* Console.log("dist/packages/dashboard")
  const { bytes, name } = yield* cliPackage(root, path.join(out, "cli"))
  yield* Console.log(`dist/packages/cli  ${name}, ${Number(bytes / 1024n)} KiB`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
