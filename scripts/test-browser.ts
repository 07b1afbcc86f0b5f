// `bun run test:browser`: builds the binary and walks through it in a real browser. `-- Passkeys` runs only such files.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Runtime, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** A command said no; it has told why. */
class StepFailed extends Schema.TaggedError<StepFailed>()("StepFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const step = Effect.fn("test-browser.step")(function* (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make(process.execPath, args, {
      cwd: root,
      env,
      extendEnv: true,
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit"
    })
  )
  const code = Number(yield* handle.exitCode)
  if (code !== 0) return yield* new StepFailed({ message: `bun ${args.join(" ")} ended with ${code}.` })
}, Effect.scoped)

const files = process.argv.slice(2).map((name) => `./test/browser/${name}.test.ts`)
const program = Effect.gen(function* () {
  yield* step(["scripts/build.ts"])
  yield* step(["test", "--timeout", "120000", ...(files.length === 0 ? ["./test/browser"] : files)], {
    SVC_TEST_BINARY: `${root}dist/svc`
  })
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
