// `npm run test:nodes [-- --short] [-- --only TEXT] [-- --seed S] [-- --scenarios N]`: runs several real servers on one real
// PostgreSQL, with real agents and the real tool, and injects every fault between them. After each scenario, checks the
// guarantees against the provider's own count and the rows in the database. Exits with 1 if a guarantee was broken.
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Duration, Effect, Exit, FileSystem, Option, Random, Runtime, Schema, Scope } from "effect"
import { Command, Flag } from "effect/cli"
import { postgresServer } from "../../scripts/PostgresServer.ts"
import { platform } from "../../src/composition/Platform.ts"
import { Broken, brokenBy } from "../crash/CrashClient.ts"
import { serverBinary } from "../crash/ServerBinary.ts"
import { svcProgram } from "../support/SvcProgram.ts"
import { deathCases } from "./cases/DeathCases.ts"
import { deploymentCases } from "./cases/DeploymentCases.ts"
import { failoverCases } from "./cases/FailoverCases.ts"
import { heardCases } from "./cases/HeardCases.ts"
import { lineCases } from "./cases/LineCases.ts"
import type { NodesCase } from "./cases/NodesCase.ts"
import { randomCase } from "./cases/RandomCases.ts"
import { upgradeCases } from "./cases/UpgradeCases.ts"
import { wholeCases } from "./cases/WholeCases.ts"
import { nextReleaseBinary } from "./support/NextRelease.ts"
import { nodesWorld, type NodesWorld } from "./support/NodesWorld.ts"

class NodesFailed extends Schema.TaggedError<NodesFailed>()("NodesFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

/** Number of random scenarios by default, and in the short form. */
const fewScenarios = 10
const shortScenarios = 1
/** Enough random numbers for the longest scenario. */
const drawnByScenario = 24
const longestCase = Duration.minutes(6)

const flags = {
  short: Flag.Boolean("short").pipe(Flag.withDefault(false), Flag.withDescription("For CI: the most important cases")),
  server: Flag.String("server").pipe(Flag.optional, Flag.withDescription("A server that this suite has built before")),
  agent: Flag.String("agent").pipe(Flag.optional, Flag.withDescription("A program for the agents, built before")),
  keep: Flag.String("keep").pipe(Flag.optional, Flag.withDescription("Where to keep the server for the next run")),
  seed: Flag.Int("seed").pipe(Flag.withDefault(1), Flag.withDescription("What is random is drawn by it")),
  scenarios: Flag.Int("scenarios").pipe(
    Flag.withDefault(0),
    Flag.withDescription("Random scenarios; the short form runs the first of ten")
  ),
  only: Flag.String("only").pipe(
    Flag.withDefault(""),
    Flag.withDescription("Cases whose name contains one of these texts, which are separated by |")
  )
}

/** Runs cases in one world, and stops after the first failure. */
const casesOf = Effect.fnUntraced(function* (
  world: NodesWorld,
  cases: ReadonlyArray<NodesCase>,
  report: (passed: boolean) => void
) {
  const files = yield* FileSystem.FileSystem
  for (const { name, run } of cases) {
    labels += 1
    const [time, result] = yield* Effect.scoped(run(world, `n${labels}`)).pipe(
      Effect.timeoutOrElse({
        duration: longestCase,
        orElse: () => Effect.fail(new Broken({ message: `Not over after ${Duration.format(longestCase)}` }))
      }),
      Effect.catchCause((cause) => Effect.fail(brokenBy(cause))),
      Effect.result,
      Effect.timed
    )
    const seconds = Duration.toSeconds(time).toFixed(1)
    report(result._tag === "Success")
    if (result._tag === "Success") {
      yield* Console.log(`ok      ${name}  ${seconds} s`)
      continue
    }
    const history = yield* Effect.orElseSucceed(files.readFileString(world.history), () => "")
    yield* Console.log(`FAILED  ${name}  ${seconds} s\n    ${result.failure.message}\n${history}`)
    return
  }
})

let labels = 0

const nodes = Command.make(
  "test:nodes",
  flags,
  Effect.fn("nodes")(function* ({ agent: ownAgent, keep, only, scenarios, seed, server: ownServer, short }) {
    const files = yield* FileSystem.FileSystem
    const agent = Option.isSome(ownAgent) ? ownAgent.value : yield* Effect.promise(svcProgram)
    const server = Option.isSome(ownServer) ? ownServer.value : yield* serverBinary
    if (Option.isSome(keep)) yield* files.copyFile(server, keep.value)
    const root = yield* files.makeTempDirectoryScoped({ prefix: "svc-nodes-" })
    yield* files.chmod(root, 0o711)
    const postgres = yield* postgresServer
    const numbers = yield* Effect.forEach(
      Array.from({ length: Math.max(scenarios, fewScenarios) * drawnByScenario }),
      () => Random.next
    ).pipe(Random.withSeed(seed))
    yield* Console.log(`Seed ${seed}`)
    const random = Array.from({ length: Math.max(scenarios, fewScenarios) }, (_, index) =>
      randomCase(index + 1, () => numbers.shift() ?? 0, index < shortScenarios)
    )
    const named = [wholeCases, heardCases, lineCases, deathCases, failoverCases, upgradeCases, deploymentCases]
    const chosen = [...named.flat(), ...random].filter(
      ({ isShort, name }) => (isShort || !short) && only.split("|").some((text) => name.includes(text))
    )
    const context = yield* Effect.context<FileSystem.FileSystem | Scope.Scope>()
    const next = yield* Effect.cached(Effect.provideContext(nextReleaseBinary, context))
    const options = { server, agent, postgres, next }
    const results: Array<boolean> = []
    while (results.length < chosen.length) {
      const folder = `${root}/${results.length}`
      const world = yield* Scope.make()
      const inWorld = Effect.flatMap(nodesWorld({ folder, ...options }), (made) =>
        casesOf(made, chosen.slice(results.length), (passed) => results.push(passed))
      )
      yield* Scope.provide(inWorld, world).pipe(
        Effect.catchCause((cause) =>
          Effect.andThen(
            Console.log(`FAILED  three nodes did not start\n    ${brokenBy(cause).message}`),
            Effect.sync(() => results.push(false))
          )
        ),
        Effect.ensuring(Scope.close(world, Exit.void))
      )
    }
    const passed = results.filter(Boolean).length
    yield* Console.log(`\n ${passed} pass\n ${results.length - passed} fail`)
    if (passed < results.length) {
      return yield* new NodesFailed({ message: `${results.length - passed} of ${results.length} failed` })
    }
  }, Effect.scoped)
)

NodeRuntime.runMain(
  Command.runWith(nodes, { version: "1" })(process.argv.slice(2)).pipe(
    Effect.tapCause((cause) =>
      Cause.squash(cause) instanceof NodesFailed ? Effect.void : Effect.logError("The suite could not run", cause)
    ),
    Effect.provide(platform)
  ),
  { disableErrorReporting: true }
)
