// Starts Bun for tests with the given arguments. If the machine has enough memory, puts temporary folders into memory,
// because tests write thousands of small files and every database commit would otherwise wait for a disk. Keeps TMPDIR if it
// is set.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Config, Effect, FileSystem, Option, Runtime, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { batchSchedule } from "./BatchSchedule.ts"
import { folderInMemory } from "./MemoryDisk.ts"
import { patientPath } from "./PatientTools.ts"

// Disables the last compilation stage. A test runs most code only a few times, so this stage would use a sixth of the CPU
// time without any benefit.
const withoutLastCompiler = { BUN_JSC_useFTLJIT: "0" }

// Keeps freed memory instead of returning it to the system, because the next test requests it again. This saves an eighth of the
// CPU time.
const keepMemory = { MIMALLOC_PURGE_DELAY: "-1" }

// Disables the timer of the garbage collector, which would use a thirtieth of the CPU time. Garbage collection still runs
// when the heap grows.
const withoutCollectorTimer = { BUN_GC_TIMER_DISABLE: "1" }

/** The error when tests fail. The tests have already reported the failures. */
class TestsFailed extends Schema.TaggedError<TestsFailed>()("TestsFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const program = Effect.gen(function* () {
  const chosen = yield* Config.option(Config.String("TMPDIR"))
  const folder = Option.isSome(chosen) ? chosen : yield* folderInMemory
  const files = yield* FileSystem.FileSystem
  const searchPath = yield* Config.String("PATH")
  const tools = yield* files.makeTempDirectoryScoped({
    prefix: "svc-tools-",
    ...Option.match(folder, { onNone: () => ({}), onSome: (directory) => ({ directory }) })
  })
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const command = [...(yield* batchSchedule(searchPath)), process.execPath, ...process.argv.slice(2)]
  const [starter = process.execPath, ...args] = command
  const handle = yield* spawner.spawn(
    ChildProcess.make(starter, args, {
      env: {
        ...withoutLastCompiler,
        ...withoutCollectorTimer,
        PATH: yield* patientPath(searchPath, tools),
        // The original PATH, for tests that check the garbage collector settings.
        SVC_TEST_PATH: searchPath,
        // The folder for builds that all test processes share. See `test/support/BuiltOnce.ts`.
        SVC_TEST_BUILDS: yield* files.makeTempDirectoryScoped({ prefix: "svc-builds-" }),
        ...Option.match(folder, { onNone: () => ({}), onSome: (path) => ({ ...keepMemory, TMPDIR: path }) })
      },
      extendEnv: true,
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit"
    })
  )
  const code = Number(yield* handle.exitCode)
  if (code !== 0) return yield* new TestsFailed({ message: `The tests ended with ${code}.` })
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
