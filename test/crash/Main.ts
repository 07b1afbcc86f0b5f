// `bun run test:crash [--points N] [--seed S] [--only text]`: kills the real server at every step and at random
// times, and says what was not as promised. Ends with 1 when anything was not.
import { NodeRuntime } from "@effect/platform-node"
import { Clock, Console, Effect, Random, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { platform } from "../../src/composition/Platform.ts"
import { crashWorld } from "./CrashWorld.ts"
import { namedScenarios, randomScenarios, type Scenario } from "./Points.ts"
import { runScenario } from "./RunScenario.ts"

class CrashesFailed extends Schema.TaggedError<CrashesFailed>()("CrashesFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const randomInCi = 8

/** The named points, then random ones; a small `points` is a sample that the seed draws. */
const chosen = (points: number, only: string, random: () => number): ReadonlyArray<Scenario> => {
  if (only !== "") return namedScenarios.filter(({ name }) => name.includes(only))
  if (points >= namedScenarios.length) {
    return [...namedScenarios, ...randomScenarios(points - namedScenarios.length, random)]
  }
  return namedScenarios
    .map((scenario) => ({ scenario, rank: random() }))
    .toSorted((left, right) => left.rank - right.rank)
    .slice(0, points)
    .map(({ scenario }) => scenario)
}

const crash = Command.make(
  "test:crash",
  {
    points: Flag.Int("points").pipe(Flag.withDefault(namedScenarios.length + randomInCi)),
    seed: Flag.Int("seed").pipe(Flag.withDefault(1)),
    only: Flag.String("only").pipe(Flag.withDefault("")),
    parallel: Flag.Int("parallel").pipe(Flag.withDefault(2))
  },
  Effect.fn("crash")(function* ({ only, parallel, points, seed }) {
    const numbers = yield* Effect.forEach(
      Array.from({ length: (points + namedScenarios.length) * 8 }),
      () => Random.next
    ).pipe(Random.withSeed(seed))
    const scenarios = chosen(points, only, () => numbers.shift() ?? 0)
    const started = yield* Clock.currentTimeMillis
    let passed = 0
    let failed = 0
    let kills = 0
    yield* Effect.gen(function* () {
      const world = yield* crashWorld
      yield* Effect.forEach(
        scenarios,
        (scenario, index) =>
          runScenario(world, scenario, index).pipe(
            Effect.matchEffect({
              onSuccess: (happened) =>
                Effect.sync(() => {
                  passed++
                  kills += happened
                }),
              onFailure: ({ message }) =>
                Effect.andThen(
                  Effect.sync(() => failed++),
                  Console.log(`FAILED ${scenario.name}\n    ${message}`)
                )
            })
          ),
        { concurrency: parallel, discard: true }
      )
    }).pipe(Effect.scoped)
    const seconds = (((yield* Clock.currentTimeMillis) - started) / 1000).toFixed(0)
    yield* Console.log(`${passed} passed, ${failed} failed (${kills} kills, seed ${seed}, ${seconds} s)`)
    if (failed > 0) return yield* new CrashesFailed({ message: `${failed} failed` })
  })
)

NodeRuntime.runMain(Command.runWith(crash, { version: "1" })(process.argv.slice(2)).pipe(Effect.provide(platform)), {
  disableErrorReporting: true
})
