// `bun run test:crash [--short [--share K]] [--points N] [--seed S] [--only text] [--postgres]`: kills the real server and its child processes
// at every step and at random times, and reports every broken guarantee. Exits with 1 if any guarantee was broken.
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Duration, Effect, FileSystem, type Layer, Option, Random, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { platform } from "../../src/composition/Platform.ts"
import { type Broken, brokenBy } from "./CrashClient.ts"
import { type CrashWorld, crashWorld, postgresCrashWorld } from "./CrashWorld.ts"
import { folderFaults } from "./FolderFaults.ts"
import { noticeScenarios, runNoticeKill } from "./NoticeKills.ts"
import { coreScenarios, namedScenarios, randomScenarios } from "./Points.ts"
import { pruneScenarios, runPruneKill } from "./PruneKills.ts"
import { reportScenarios, runReportKill } from "./ReportKills.ts"
import { runScenario } from "./RunScenario.ts"
import { shareOf, shareOfCommit } from "../support/CommitShare.ts"
import type { Scenario } from "./Scenario.ts"

class CrashesFailed extends Schema.TaggedError<CrashesFailed>()("CrashesFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

/** The number of shares into which the cases are split. The short form runs one share. */
const shareCount = 7
const randomByDefault = 8
const drawnByScenario = 10

/** A fault that is injected once. `run` returns the number of killed processes. */
interface Case {
  readonly name: string
  readonly run: (world: CrashWorld, root: string) => Effect.Effect<number, Broken, Layer.Success<typeof platform>>
}

const scenarioCase = (scenario: Scenario): Case => ({
  name: scenario.name,
  run: (world, root) => runScenario(world, scenario, root)
})

const faultCases = folderFaults.map(
  ({ check, name }): Case => ({
    name,
    run: (world, root) =>
      check(world.program, root).pipe(
        Effect.scoped,
        Effect.as(0),
        Effect.catchCause((cause) => Effect.fail(brokenBy(cause)))
      )
  })
)

const pruneCases = pruneScenarios.map(
  (kill): Case => ({
    name: kill.name,
    run: (world, root) =>
      runPruneKill(world.program, kill, root).pipe(Effect.catchCause((cause) => Effect.fail(brokenBy(cause))))
  })
)

const noticeCases = noticeScenarios.map(
  (kill): Case => ({
    name: kill.name,
    run: (world, root) =>
      runNoticeKill(world.program, kill, root).pipe(Effect.catchCause((cause) => Effect.fail(brokenBy(cause))))
  })
)

const reportCases = reportScenarios.map(
  (kill): Case => ({
    name: kill.name,
    run: (world, root) =>
      runReportKill(world, kill, root).pipe(Effect.catchCause((cause) => Effect.fail(brokenBy(cause))))
  })
)

/** All named points of journeys. What fills the disk of a data folder leaves a database in PostgreSQL alone. */
const postgresCases = namedScenarios.filter(({ diskFull }) => diskFull !== true).map(scenarioCase)

/** All cases that are not journeys. */
const otherCases = [...pruneCases, ...noticeCases, ...reportCases, ...faultCases]

const flags = {
  short: Flag.Boolean("short").pipe(
    Flag.withDefault(false),
    Flag.withDescription("For CI: the most important ones and one share of all others")
  ),
  share: Flag.Int("share").pipe(
    Flag.filter(
      (share) => share >= 0 && share < shareCount,
      (share) => `There is no share ${share}: they are 0 to ${shareCount - 1}`
    ),
    Flag.optional,
    Flag.withDescription(`Which share the short form takes, from 0 to ${shareCount - 1}; by default the commit says`)
  ),
  points: Flag.Int("points").pipe(
    Flag.withDefault(namedScenarios.length + randomByDefault),
    Flag.withDescription("All named ones, and random ones up to this many; fewer are a sample of the named ones")
  ),
  seed: Flag.Int("seed").pipe(Flag.withDefault(1), Flag.withDescription("What is random is drawn by it")),
  only: Flag.String("only").pipe(Flag.withDefault(""), Flag.withDescription("Those whose name holds this text")),
  postgres: Flag.Boolean("postgres").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Kills servers whose database is in PostgreSQL, at the points of Runs and commands")
  ),
  parallel: Flag.Int("parallel").pipe(Flag.withDefault(2), Flag.withDescription("Servers at a time"))
}

const chosen = (points: number, share: number | undefined, random: () => number): ReadonlyArray<Case> => {
  if (share !== undefined) {
    const others = namedScenarios.filter((scenario) => !coreScenarios.includes(scenario))
    const cases = [...others, ...randomScenarios(randomByDefault, random)].map(scenarioCase).concat(otherCases)
    return [...coreScenarios.map(scenarioCase), ...shareOf(cases, share, shareCount)]
  }
  const drawn = randomScenarios(Math.max(0, points - namedScenarios.length), random)
  if (points >= namedScenarios.length) return [...namedScenarios, ...drawn].map(scenarioCase).concat(otherCases)
  return namedScenarios
    .map((scenario) => ({ scenario, rank: random() }))
    .toSorted((left, right) => left.rank - right.rank)
    .slice(0, points)
    .map(({ scenario }) => scenarioCase(scenario))
}

const play = Effect.fnUntraced(function* (world: CrashWorld, { name, run }: Case, root: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.orDie(files.makeDirectory(root, { mode: 0o711 }))
  const [time, result] = yield* Effect.timed(Effect.result(run(world, root)))
  const seconds = Duration.toSeconds(time).toFixed(1)
  if (result._tag === "Failure") {
    yield* Console.log(`FAILED  ${name}  ${seconds} s\n    ${result.failure.message}`)
    return undefined
  }
  yield* Console.log(`ok      ${name}  ${seconds} s`)
  // Keeps the folder of a failed scenario for inspection until the suite finishes.
  yield* Effect.ignore(files.remove(root, { recursive: true }))
  return result.success
})

const crash = Command.make(
  "test:crash",
  flags,
  Effect.fn("crash")(function* ({ only, parallel, points, postgres, seed, short, share: asked }) {
    const share = short ? (Option.getOrUndefined(asked) ?? (yield* shareOfCommit(shareCount))) : undefined
    if (share !== undefined) yield* Console.log(`Share ${share} of 0 to ${shareCount - 1}`)
    const numbers = yield* Effect.forEach(
      Array.from({ length: (Math.max(points, randomByDefault) + namedScenarios.length) * drawnByScenario }),
      () => Random.next
    ).pipe(Random.withSeed(seed))
    const cases = (postgres ? postgresCases : chosen(points, share, () => numbers.shift() ?? 0)).filter(({ name }) =>
      name.includes(only)
    )
    const [time, results] = yield* Effect.gen(function* () {
      const world = yield* postgres ? postgresCrashWorld : crashWorld
      return yield* Effect.forEach(cases, (one, index) => play(world, one, `${world.folder}/${index}`), {
        concurrency: parallel
      })
    }).pipe(Effect.scoped, Effect.timed)
    const passed = results.filter((kills) => kills !== undefined)
    const failed = results.length - passed.length
    const kills = passed.reduce((sum, count) => sum + count, 0)
    yield* Console.log(`\n ${passed.length} pass\n ${failed} fail`)
    yield* Console.log(`${kills} kills, seed ${seed}, ${Duration.toSeconds(time).toFixed(0)} s`)
    if (failed > 0) return yield* new CrashesFailed({ message: `${failed} of ${results.length} failed` })
  })
)

NodeRuntime.runMain(
  Command.runWith(crash, { version: "1" })(process.argv.slice(2)).pipe(
    Effect.tapCause((cause) =>
      Cause.squash(cause) instanceof CrashesFailed ? Effect.void : Effect.logError("The suite could not run", cause)
    ),
    Effect.provide(platform)
  ),
  { disableErrorReporting: true }
)
