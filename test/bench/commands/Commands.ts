import { Clock, Context, Effect, FileSystem, References } from "effect"
import { SqlClient } from "effect/sql"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { Pools } from "../../../actors/running/agent-pool/Pools.ts"
import { marks } from "../../support/NothingDue.ts"
import { embeddedWith } from "../support/Embedded.ts"
import { type Figure, median } from "../support/Figures.ts"
import { module, repositoryOf } from "../support/Modules.ts"
import { type CommandKind, commandKinds } from "./CommandKinds.ts"
import { observedStatements, replayed } from "./ObservedStatements.ts"

const rounds = 15
const commands = 100
// Number of warm-up rounds. They are needed because the first commands spend much of their time on compilation.
const warmUps = 20

const elapsed = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  const started = yield* Clock.currentTimeNanos
  const result = yield* work
  return { result, nanos: Number((yield* Clock.currentTimeNanos) - started) }
})

interface Measured {
  readonly name: string
  /** The service's rate as a fraction of the rate at which the same transactions run without the service. */
  readonly ratio: number
  readonly perSecond: number
}

/** Measures one kind of command, alternating with a replay of only its statements in a copy of the database. */
const measure = Effect.fnUntraced(function* (
  { name, once }: CommandKind,
  services: Context.Context<ReadSql | SqlClient.SqlClient>,
  observed: Effect.Success<typeof observedStatements>
) {
  const read = Context.get(services, ReadSql)
  const replay = yield* replayed(Context.get(services, SqlClient.SqlClient))
  let index = 0
  // Commands mark work to be done later in the database. The replay includes that work's statements, so wait until it is
  // done. Only the statements of the writing connection are observed.
  const handedOver = Effect.yieldNow.pipe(
    Effect.andThen(read`${read.literal(marks)} LIMIT 1`),
    Effect.repeat({ until: (waiting) => waiting.length === 0 })
  )
  const own = Effect.gen(function* () {
    for (let done = 0; done < commands; done++) yield* once(++index)
    yield* handedOver
  })
  const ratios: Array<number> = []
  const rates: Array<number> = []
  for (let round = -warmUps; round < rounds; round++) {
    // Turns off tracing, as in a service without a collector.
    const ours = yield* elapsed(Effect.provideService(own, References.TracerEnabled, false))
    const executed = observed.take()
    const theirs = yield* elapsed(replay(executed))
    if (round < 0) continue
    ratios.push(theirs.nanos / ours.nanos)
    // A command may write in several transactions, and a kind may consist of several commands.
    rates.push(theirs.result / (ours.nanos / 1e9))
  }
  return { name, ratio: median(ratios), perSecond: median(rates) } satisfies Measured
}, Effect.scoped)

/**
 * Runs commands through their actors and services, one at a time. Compares each command with its transactions alone: the
 * same statements with the same durability, but without actors, checks and decisions. The figure is the slowest kind.
 */
export const commandsFigure = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-policy-" })
  const { origin, url } = yield* repositoryOf({ "main.tf": module })
  const policyFile = `${folder}/policy.json`
  const policy = { profiles: { far: { pool: "far" } }, baseConfigs: [{ origin, profile: "far" }] }
  yield* files.writeFileString(policyFile, JSON.stringify(policy))
  const observed = yield* observedStatements
  const world = yield* embeddedWith({ policyFile, gitAllowOrigins: origin })
  const pools = Context.get(world.services, Pools)
  yield* pools.create("far", {})
  yield* pools.assign("far", world.workspaceId)
  const kinds = yield* commandKinds(world, url)
  const measured = yield* Effect.forEach(kinds, (kind) => measure(kind, world.services, observed))
  const [slowest, ...others] = measured.toSorted((a, b) => a.ratio - b.ratio)
  if (slowest === undefined) return []
  const shown = ({ name, perSecond, ratio }: Measured) => `${name} ${ratio.toFixed(2)} x, ${perSecond.toFixed(0)}/s`
  const figure: Figure = {
    name: "slowest of all kinds of command against its bare transaction",
    figure: slowest.ratio,
    unit: "x",
    target: { atLeast: 0.35 },
    detail: [slowest, ...others].map(shown).join("; ")
  }
  return [figure]
}).pipe(Effect.scoped)
