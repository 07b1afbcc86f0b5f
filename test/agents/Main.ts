// `npm run test:agents [-- --short [--share K]] [-- --only TEXT]`: runs a real server, real agents and the real tool, and
// injects every kind of fault between them. After each fault, checks the guarantees against the number of objects that the
// provider created, the states and every captured byte. Exits with 1 if a guarantee was broken.
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Duration, Effect, FileSystem, Option, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { platform } from "../../src/composition/Platform.ts"
import { Broken, brokenBy } from "../crash/CrashClient.ts"
import { shareOf, shareOfCommit } from "../support/CommitShare.ts"
import { svcProgram } from "../support/SvcProgram.ts"
import type { LaneCase, Services, WorldCase } from "./cases/AgentCase.ts"
import { killCases } from "./cases/KillCases.ts"
import { cutCases, cutTogetherCases } from "./cases/LineCases.ts"
import { shortWorldCases, worldCases } from "./cases/WorldCases.ts"
import { agentWorld } from "./support/AgentWorld.ts"
import { verdict } from "./support/Verdict.ts"

class AgentsFailed extends Schema.TaggedError<AgentsFailed>()("AgentsFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

/** The number of shares. The short form runs one share. */
const togetherShares = 7
const killShares = 14
/** Maximum number of cases per server. */
const laneLength = 10
const longestLaneCase = Duration.minutes(2)
const longestWorldCase = Duration.minutes(60)

const flags = {
  short: Flag.Boolean("short").pipe(Flag.withDefault(false), Flag.withDescription("For CI: a share of the cases")),
  share: Flag.Int("share").pipe(Flag.optional, Flag.withDescription("Which share; by default the commit says")),
  only: Flag.String("only").pipe(Flag.withDefault(""), Flag.withDescription("Those whose name holds this text")),
  other: Flag.String("other").pipe(
    Flag.withDefault(""),
    Flag.withDescription(
      "Binary of another release: only whether its agents work with this server, and this agent with its server"
    )
  ),
  parallel: Flag.Int("parallel").pipe(Flag.withDefault(3), Flag.withDescription("Servers at a time"))
}

/** Runs a case, prints its result, and returns whether it passed. */
const judged = <R>(name: string, longest: Duration.Duration, run: Effect.Effect<unknown, unknown, R>) =>
  Effect.gen(function* () {
    const [time, result] = yield* run.pipe(
      Effect.timeoutOrElse({
        duration: longest,
        orElse: () => Effect.fail(new Broken({ message: `Not over after ${Duration.format(longest)}` }))
      }),
      Effect.catchCause((cause) => Effect.fail(brokenBy(cause))),
      Effect.result,
      Effect.timed
    )
    const seconds = Duration.toSeconds(time).toFixed(1)
    yield* Console.log(
      result._tag === "Failure"
        ? `FAILED  ${name}  ${seconds} s\n    ${result.failure.message}`
        : `ok      ${name}  ${seconds} s`
    )
    return result._tag === "Success"
  })

/** Runs several cases on one server. The verdict on the server is an additional case. */
const laneJob = (cases: ReadonlyArray<LaneCase>, server: string) => (folder: string, number: number) =>
  Effect.gen(function* () {
    const world = yield* agentWorld({ folder, server })
    let labels = 0
    const nextLabel = () => {
      labels += 1
      return `n${labels}`
    }
    const passed: Array<boolean> = []
    for (const { name, run } of cases) {
      passed.push(yield* judged(name, longestLaneCase, Effect.scoped(run({ world, nextLabel }))))
    }
    passed.push(yield* judged(`what server ${number} kept of ${cases.length} cases`, longestLaneCase, verdict(world)))
    return passed
  }).pipe(Effect.scoped)

const worldJob =
  ({ name, run }: WorldCase, programs: { readonly server: string; readonly agent?: string }) =>
  (folder: string) =>
    Effect.map(judged(name, longestWorldCase, Effect.scoped(run({ folder, ...programs }))), (passed) => [passed])

/** Cases in which the server or the agent is from another release. */
const mixedJobs = (own: string, other: string): ReadonlyArray<Job> =>
  shortWorldCases.flatMap(({ name, run }) => [
    worldJob({ name: `agent of another release: ${name}`, run }, { server: own, agent: other }),
    worldJob({ name: `server of another release: ${name}`, run }, { server: other, agent: own })
  ])

type Job = (folder: string, number: number) => Effect.Effect<ReadonlyArray<boolean>, unknown, Services>

const lanesOf = (cases: ReadonlyArray<LaneCase>, count: number): ReadonlyArray<ReadonlyArray<LaneCase>> =>
  Array.from({ length: count }, (_, lane) => cases.filter((_, index) => index % count === lane)).filter(
    (lane) => lane.length > 0
  )

const agents = Command.make(
  "test:agents",
  flags,
  Effect.fn("agents")(function* ({ only, other, parallel, share: asked, short }) {
    const files = yield* FileSystem.FileSystem
    const server = yield* Effect.promise(svcProgram)
    const root = yield* files.makeTempDirectoryScoped({ prefix: "svc-agents-" })
    yield* files.chmod(root, 0o711)
    const share = Option.getOrElse(asked, () => -1) >= 0 ? Option.getOrThrow(asked) : yield* shareOfCommit(70)
    if (short) yield* Console.log(`Share ${share}`)
    const isWanted = ({ name }: { readonly name: string }) => name.includes(only)
    const inLanes = short
      ? [...shareOf(cutTogetherCases, share, togetherShares), ...shareOf(killCases, share, killShares)]
      : [...cutTogetherCases, ...cutCases, ...killCases]
    const chosen = inLanes.filter(isWanted)
    const lanes = lanesOf(chosen, short ? 2 : Math.max(parallel, Math.ceil(chosen.length / laneLength)))
    const alone = (short ? shortWorldCases : worldCases).filter(isWanted)
    const usual: ReadonlyArray<Job> = [
      ...alone.map((one) => worldJob(one, { server })),
      ...lanes.map((lane) => laneJob(lane, server))
    ]
    const jobs = other === "" ? usual : mixedJobs(server, other)
    const [time, results] = yield* Effect.timed(
      Effect.forEach(jobs, (job, index) => job(`${root}/${index}`, index), { concurrency: parallel })
    )
    const all = results.flat()
    const passed = all.filter(Boolean).length
    yield* Console.log(`\n ${passed} pass\n ${all.length - passed} fail\n${Duration.toSeconds(time).toFixed(0)} s`)
    if (passed < all.length)
      return yield* new AgentsFailed({ message: `${all.length - passed} of ${all.length} failed` })
  }, Effect.scoped)
)

NodeRuntime.runMain(
  Command.runWith(agents, { version: "1" })(process.argv.slice(2)).pipe(
    Effect.tapCause((cause) =>
      Cause.squash(cause) instanceof AgentsFailed ? Effect.void : Effect.logError("The suite could not run", cause)
    ),
    Effect.provide(platform)
  ),
  { disableErrorReporting: true }
)
