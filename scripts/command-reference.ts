import { NodeRuntime } from "@effect/platform-node"
import { Effect, FileSystem, Path } from "effect"
import { platform } from "../src/composition/Platform.ts"
import { commandReference, exitCodeReference } from "./CommandReference.ts"

/** Writes `docs/cli.md` and `docs/exit-codes.md`. Run this script after changing a command, a flag or an example. */
const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const page = (name: string) => path.join(import.meta.dirname, "..", "docs", name)
  yield* files.writeFileString(page("cli.md"), yield* commandReference)
  yield* files.writeFileString(page("exit-codes.md"), exitCodeReference)
})

NodeRuntime.runMain(program.pipe(Effect.provide(platform)))
