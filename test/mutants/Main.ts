// `npm run test:mutants`: breaks each listed guard in a copy of the code, and expects its test to fail. `-- --short` runs
// one guard from each list and one share of all the others, which depends on the commit, without running the tests on intact
// code. `-- --only NAME` runs the guards whose name contains NAME. Tests as many guards at once as there are processors,
// each in a separate copy. The time limits depend on the duration of the tests on intact code, so a busy machine does not
// fail them.
import { availableParallelism } from "node:os"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Duration, Effect, FileSystem, Queue, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { shareOf, shareOfCommit } from "../support/CommitShare.ts"
import type { Mutant } from "./Mutant.ts"
import { coreMutants, mutants } from "./Mutants.ts"

class GuardUntested extends Schema.TaggedError<GuardUntested>()("GuardUntested", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const copied = "schema runner actors src examples test scripts docs package.json tsconfig.json bunfig.toml".split(" ")
const root = process.cwd()
/** The number of shares into which the mutants are divided. The short form runs one share. */
const shareCount = 10
const isShort = process.argv.includes("--short")
const word = process.argv
  .slice(2)
  .filter((argument) => !argument.startsWith("--"))
  .join(" ")

/** The limits for one test and for the process. Without its guard, a test may block its process, which then enforces no limit. */
interface Limits {
  readonly test: Duration.Duration
  readonly process: Duration.Duration
}

const soundLimits: Limits = { test: Duration.minutes(30), process: Duration.minutes(30) }
/** The short form does not run intact code. */
const shortLimits: Limits = { test: Duration.minutes(5), process: Duration.minutes(10) }

/**
 * A single test never takes longer than all tests of its file. Both limits include an extra minute, in case the load on the
 * machine increases.
 */
const limitsAfter = (sound: Duration.Duration): Limits => ({
  test: Duration.sum(sound, Duration.minutes(1)),
  process: Duration.sum(Duration.times(sound, 4), Duration.minutes(1))
})

const ownLimit = /\bsetDefaultTimeout\([^()]*\)/

/** Removes the limits that the files of a test set, because they would override the limit on the command line. */
const withoutOwnLimits = Effect.fnUntraced(function* (folder: string, test: string) {
  const files = yield* FileSystem.FileSystem
  for (const name of [test, "test/support/Preload.ts"]) {
    const path = `${folder}/${name}`
    yield* files.writeFileString(path, (yield* files.readFileString(path)).replace(ownLimit, "void setDefaultTimeout"))
  }
})

/** Number of lines of a failed test that are shown. */
const shownLines = 40

interface Outcome {
  readonly passed: boolean
  readonly output: string
}

/** Runs the test in the copy. A test that does not end counts as failed. */
const outcomeOf = Effect.fnUntraced(function* (folder: string, test: string, limits: Limits) {
  yield* withoutOwnLimits(folder, test)
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  return yield* Effect.gen(function* () {
    const handle = yield* spawner.spawn(
      // `--bail` ends the process at the first failure. Tests run sequentially, because concurrent tests would leave unfinished
      // work behind.
      ChildProcess.make(
        process.execPath,
        ["test", "--bail", "--max-concurrency=1", `--timeout=${Duration.toMillis(limits.test)}`, `./${test}`],
        {
          cwd: folder,
          extendEnv: true,
          forceKillAfter: "5 seconds"
        }
      )
    )
    const [output, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.all)), handle.exitCode], {
      concurrency: 2
    })
    return { passed: Number(code) === 0, output } satisfies Outcome
  }).pipe(
    Effect.scoped,
    Effect.timeoutOrElse({
      duration: limits.process,
      orElse: () => Effect.succeed<Outcome>({ passed: false, output: "The test did not end." })
    })
  )
})

const isNoticed = Effect.fnUntraced(function* (folder: string, { broken, file, test, text }: Mutant, limits: Limits) {
  const files = yield* FileSystem.FileSystem
  const path = `${folder}/${file}`
  const sound = yield* files.readFileString(path)
  yield* files.writeFileString(
    path,
    sound.replace(text, () => broken)
  )
  const noticed = !(yield* outcomeOf(folder, test, limits)).passed
  yield* files.writeFileString(path, sound)
  return noticed
})

/** Copies the code to a separate folder. */
const copy = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-mutants-" })
  // Some tests start programs from the copy as another user.
  yield* files.chmod(folder, 0o755)
  for (const name of copied) yield* files.copy(`${root}/${name}`, `${folder}/${name}`)
  yield* files.symlink(`${root}/node_modules`, `${folder}/node_modules`)
  return folder
})

const shortForm = Effect.map(shareOfCommit(shareCount), (share) => {
  const others = mutants.filter((mutant) => !coreMutants.includes(mutant))
  return [...coreMutants, ...shareOf(others, share, shareCount)]
})

const withCopy = <A, E, R>(copies: Queue.Queue<string>, use: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(Queue.take(copies), use, (folder) => Queue.offer(copies, folder))

const program = Effect.gen(function* () {
  const copies = yield* Queue.unbounded<string>()
  const concurrency = availableParallelism()
  for (let made = 0; made < concurrency; made++) yield* Queue.offer(copies, yield* copy)
  const chosen = (isShort ? yield* shortForm : mutants).filter(({ name }) => name.includes(word))
  const tests = isShort ? [] : [...new Set(chosen.map(({ test }) => test))]
  const limits = new Map<string, Limits>()
  const wrong = yield* Effect.forEach(
    tests,
    (test) =>
      withCopy(copies, (folder) => Effect.timed(outcomeOf(folder, test, soundLimits))).pipe(
        Effect.tap(([took]) => Effect.sync(() => limits.set(test, limitsAfter(took)))),
        Effect.tap(([, { output, passed }]) =>
          passed ? Effect.void : Console.log(output.split("\n").slice(-shownLines).join("\n"))
        ),
        Effect.map(([, { passed }]) => (passed ? [] : [`${test} fails on sound code`]))
      ),
    { concurrency }
  )
  const missed = yield* Effect.forEach(
    chosen,
    (guard) =>
      withCopy(copies, (folder) => isNoticed(folder, guard, limits.get(guard.test) ?? shortLimits)).pipe(
        Effect.tap((noticed) => Console.log(`${noticed ? "noticed" : "MISSED "} ${guard.name}`)),
        Effect.map((noticed) => (noticed ? [] : [`${guard.test} passes without the guard "${guard.name}"`]))
      ),
    { concurrency }
  )
  const unnoticed = missed.flat()
  yield* Console.log(`\n ${chosen.length - unnoticed.length} pass\n ${unnoticed.length} fail`)
  const message = [...wrong.flat(), ...unnoticed].join("\n")
  if (message !== "") return yield* new GuardUntested({ message })
})

NodeRuntime.runMain(program.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
