import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Path } from "effect"
import { actorsPage, folderImports } from "../test/support/ActorFolders.ts"

/**
 * Writes the folders of `actors/` and the dependencies between them into the documentation. Run this script after adding an
 * import between two folders.
 */
const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.join(import.meta.dirname, "..")
  yield* fs.writeFileString(path.join(root, "docs", "builders", "actors.md"), actorsPage(folderImports(root)))
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
