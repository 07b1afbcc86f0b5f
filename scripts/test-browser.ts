// `bun run test:browser`: builds the binary once and tests it in a real browser. Every document, script and style comes from
// the binary, except that the issuer in `IssuerPages` and `Onward` runs in the test's process. Arguments, in any order,
// after `--`:
// - names of suites, such as `Passkeys`: only these
// - `--short`: the CI selection: the whole job, one pass over every screen, a share of the decisions, the issuer's pages, the tutorial for applications,
//   long lists, and the documentation
// - `--source`: directly from source without a build, for quick development
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Path, Runtime, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const shortSuites = [
  "MainJob",
  "Safety",
  "Accessibility",
  "Decisions",
  "Consent",
  "Smoothness",
  "IssuerPages",
  "Onward",
  "IdentityTutorial",
  "Documentation"
] as const

/** The error when a command fails. The command has already printed the reason. */
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

/** Copies the binary to a folder where a later build cannot replace it during the tests. */
const builtBinary = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* step(["scripts/build.ts"])
  const program = path.join(yield* files.makeTempDirectoryScoped({ prefix: "svc-browser-" }), "svc")
  yield* files.copyFile(path.join(root, "dist/svc"), program)
  yield* files.chmod(program, 0o755)
  return program
})

const args = process.argv.slice(2)
const flags = args.filter((each) => each.startsWith("--"))
const named = args.filter((each) => !each.startsWith("--"))
const short = flags.includes("--short")
const suites = named.length > 0 ? named : short ? shortSuites : undefined
const files = suites === undefined ? ["./test/browser"] : suites.map((name) => `./test/browser/${name}.test.ts`)

const program = Effect.gen(function* () {
  const unknown = flags.filter((flag) => flag !== "--short" && flag !== "--source")
  if (unknown.length > 0)
    return yield* new StepFailed({ message: `Unknown: ${unknown.join(" ")}. Known are --short and --source.` })
  const binary = flags.includes("--source") ? "" : yield* builtBinary
  yield* step(["test", "--timeout", "120000", ...files], {
    SVC_TEST_BINARY: binary,
    SVC_TEST_BROWSER: short ? "short" : "full"
  })
})

NodeRuntime.runMain(Effect.scoped(program).pipe(Effect.provide(NodeServices.layer)))
