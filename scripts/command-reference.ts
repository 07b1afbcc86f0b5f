import { NodeRuntime } from "@effect/platform-node"
import { Effect, FileSystem, Path } from "effect"
import { platform } from "../src/composition/Platform.ts"
import { commandReference } from "./CommandReference.ts"

/** Writes `docs/cli.md`. Run it after changing a command, a flag or an example. */
const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* files.writeFileString(path.join(import.meta.dirname, "..", "docs", "cli.md"), yield* commandReference)
})

NodeRuntime.runMain(program.pipe(Effect.provide(platform)))
