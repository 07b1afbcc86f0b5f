import { Effect, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

class BuildFailed extends Schema.TaggedError<BuildFailed>()("BuildFailed", { message: Schema.String }) {}

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** Builds the binary that people run, and answers its path: figures of a source checkout would tell of something else. */
export const releaseBinary = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const build = yield* spawner.spawn(
    ChildProcess.make(process.execPath, ["scripts/build.ts"], { cwd: root, extendEnv: true })
  )
  const output = yield* Stream.mkString(Stream.decodeText(build.all))
  if (Number(yield* build.exitCode) !== 0) return yield* new BuildFailed({ message: output })
  return `${root}dist/svc`
}).pipe(Effect.scoped)
