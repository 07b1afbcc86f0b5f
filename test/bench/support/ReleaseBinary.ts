import { Effect, FileSystem, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

class BuildFailed extends Schema.TaggedError<BuildFailed>()("BuildFailed", { message: Schema.String }) {}

const root = fileURLToPath(new URL("../../..", import.meta.url))

const build = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const building = yield* spawner.spawn(
    ChildProcess.make(process.execPath, ["scripts/build.ts"], { cwd: root, extendEnv: true })
  )
  const output = yield* Stream.mkString(Stream.decodeText(building.all))
  if (Number(yield* building.exitCode) !== 0) return yield* new BuildFailed({ message: output })
}).pipe(Effect.scoped)

/**
 * Builds the release binary and returns the path of a copy. A source checkout would produce different figures, and a concurrent
 * build could replace the original.
 */
export const releaseBinary = Effect.gen(function* () {
  yield* build
  const files = yield* FileSystem.FileSystem
  const copy = `${yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-binary-" })}/svc`
  yield* files.copyFile(`${root}dist/svc`, copy)
  yield* files.chmod(copy, 0o755)
  return copy
})
