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
 * Builds the binary that people run, and answers the path of a copy: figures of a source checkout would tell of something
 * else, and so would those of a build that somebody makes meanwhile.
 */
export const releaseBinary = Effect.gen(function* () {
  yield* build
  const files = yield* FileSystem.FileSystem
  const copy = `${yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-binary-" })}/svc`
  yield* files.copyFile(`${root}dist/svc`, copy)
  yield* files.chmod(copy, 0o755)
  return copy
})
