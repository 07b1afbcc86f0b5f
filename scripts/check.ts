// `npm run check` runs every check that does not execute the code. Exits with 1 if any check fails.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { subjectFaults } from "./CommitSubjects.ts"

class CheckFailed extends Schema.TaggedError<CheckFailed>()("CheckFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const sources = ["schema", "runner", "actors", "src", "test", "examples", "scripts"]

const run = Effect.fnUntraced(function* (program: string, args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { extendEnv: true }))
  const [output, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.all)), handle.exitCode], {
    concurrency: 2
  })
  return { output: output.trim(), ok: Number(code) === 0 }
}, Effect.scoped)

/** Runs the type checker with Effect's rules. The command prints the path of the checker for this platform. */
const types = Effect.gen(function* () {
  const { ok, output } = yield* run("node_modules/.bin/effect-tsgo", ["get-exe-path"])
  if (!ok) return { ok, output }
  const checked = yield* run(output, ["--noEmit"])
  // Ignore suggestions, which are only advice. Warnings fail the check.
  const lines = checked.output.split("\n").filter((line) => !line.includes(": suggestion TS"))
  const counted = lines.filter((line) => / (?:error|warning) TS\d+/.test(line))
  return { ok: counted.length === 0, output: counted.length === 0 ? "" : lines.join("\n") }
})

/** Warns about the newest commits but never fails, because a published subject cannot be changed. */
const subjects = Effect.gen(function* () {
  const log = yield* run("git", ["log", "-20", "--no-merges", "--format=%s"])
  const faulty = log.output
    .split("\n")
    .flatMap((subject) => subjectFaults(subject).map((fault) => `${subject}: ${fault}`))
  if (log.ok && faulty.length > 0) yield* Console.log(`Commit subjects to improve:\n  ${faulty.join("\n  ")}`)
  return { ok: true, output: "" }
})

const checks = [
  ["types", types],
  ["lint", run("node_modules/.bin/oxlint", sources)],
  ["format", run("node_modules/.bin/biome", ["format", "."])],
  ["yields", run(process.execPath, ["test", "./test/StaleReads.test.ts"])],
  ["architecture", run(process.execPath, ["test", "./test/Architecture.test.ts"])],
  ["subjects", subjects],
  ["unused", run("node_modules/.bin/knip", ["--no-progress", "--no-config-hints"])]
] as const

const program = Effect.gen(function* () {
  const failed: Array<string> = []
  for (const [name, check] of checks) {
    const started = yield* Clock.currentTimeMillis
    const { ok, output } = yield* check
    const seconds = (((yield* Clock.currentTimeMillis) - started) / 1000).toFixed(1)
    yield* Console.log(`${ok ? "ok    " : "FAILED"}  ${name.padEnd(12)} ${seconds} s`)
    if (!ok) {
      failed.push(name)
      yield* Console.log(`${output}\n`)
    }
  }
  if (failed.length > 0) return yield* new CheckFailed({ message: `Failed: ${failed.join(", ")}` })
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)), { disableErrorReporting: true })
