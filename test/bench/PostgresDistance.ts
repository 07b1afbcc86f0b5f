import { Clock, Context, Effect, FileSystem, Redacted } from "effect"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Pools } from "../../actors/running/agent-pool/Pools.ts"
import { postgresServer } from "../../scripts/PostgresServer.ts"
import { commandKinds } from "./commands/CommandKinds.ts"
import { distantDatabase, type ObservedTransaction } from "./support/DistantDatabase.ts"
import { embeddedWith } from "./support/Embedded.ts"
import { type Figure, median } from "./support/Figures.ts"
import { module, repositoryOf } from "./support/Modules.ts"

/** Round-trip times between the server and the database, in milliseconds. */
const distances = [0, 1, 2] as const
const times = 20
const mostStatements = 50
const longestMillis = 250

const createDatabase = (url: string, name: string) =>
  Effect.scoped(
    Effect.flatMap(PgConnection.make({ url: Redacted.make(url) }), (session) =>
      session.query(`CREATE DATABASE ${name}`, [], false)
    )
  )

/** Starts a service whose database is at this distance. */
const serviceAt = Effect.fnUntraced(function* (server: string, distance: number, url: string, origin: string) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-distance-" })
  const policyFile = `${folder}/policy.json`
  const policy = { profiles: { far: { pool: "far" } }, baseConfigs: [{ origin, profile: "far" }] }
  yield* files.writeFileString(policyFile, JSON.stringify(policy))
  const name = `distance_${distance}`
  yield* createDatabase(server, name)
  const socketFolder = new URL(server).searchParams.get("host") ?? ""
  const database = yield* distantDatabase(`${socketFolder}/.s.PGSQL.5432`, distance)
  const databaseUrl = `postgres://svc@127.0.0.1:${database.port}/${name}`
  const world = yield* embeddedWith({ policyFile, gitAllowOrigins: origin, databaseUrl })
  // The tables are created in a single transaction, before any server writes.
  database.take()
  const pools = Context.get(world.services, Pools)
  yield* pools.create("far", {})
  yield* pools.assign("far", world.workspaceId)
  return { distance, kinds: yield* commandKinds(world, url), database }
})

const elapsed = Effect.fnUntraced(function* (work: Effect.Effect<unknown, unknown>) {
  const begun = yield* Clock.currentTimeNanos
  yield* work
  return Number((yield* Clock.currentTimeNanos) - begun) / 1e6
})

const longestOf = (transactions: ReadonlyArray<ObservedTransaction>) =>
  transactions.toSorted((a, b) => b.statements - a.statements)

const described = ({ first, millis, statements }: ObservedTransaction): string =>
  `${statements} statements, ${millis.toFixed(0)} ms: ${first}`

interface Compared {
  readonly kind: string
  readonly millis: number
  readonly ratio: number
}

const figuresAt = (
  distance: number,
  compared: ReadonlyArray<Compared>,
  transactions: ReadonlyArray<ObservedTransaction>
): ReadonlyArray<Figure> => {
  const longest = longestOf(transactions)
  const slowest = transactions.toSorted((a, b) => b.millis - a.millis)[0]
  const shown = ({ kind, millis, ratio }: Compared) => `${kind} ${ratio.toFixed(1)} x, ${millis.toFixed(0)} ms`
  return [
    {
      name: `commands with the database ${distance} ms away, against 0 ms`,
      figure: median(compared.map(({ ratio }) => ratio)),
      unit: "x",
      detail: compared
        .toSorted((a, b) => b.ratio - a.ratio)
        .map(shown)
        .join("; ")
    },
    {
      name: `longest transaction with the database ${distance} ms away`,
      figure: longest[0]?.statements ?? 0,
      unit: "statements",
      target: { atMost: mostStatements },
      detail: longest.slice(0, 5).map(described).join("; ")
    },
    {
      name: `slowest transaction with the database ${distance} ms away`,
      figure: slowest?.millis ?? 0,
      unit: "ms",
      ...(distance === 1 ? { target: { atMost: longestMillis } } : {}),
      ...(slowest === undefined ? {} : { detail: described(slowest) })
    }
  ]
}

/**
 * Services in this process whose PostgreSQL databases run on this machine but respond as if they were 0, 1 and 2 ms away.
 * The services take turns, so that other load on the machine affects all of them.
 */
export const postgresDistance = Effect.gen(function* () {
  const { origin, url } = yield* repositoryOf({ "main.tf": module })
  const { url: server } = yield* postgresServer
  const services = yield* Effect.forEach(distances, (distance) => serviceAt(server, distance, url, origin))
  const [near, ...far] = services
  if (near === undefined) return []
  const compared = new Map(far.map(({ distance }) => [distance, new Array<Compared>()]))
  for (const [number, { name: kind, once }] of near.kinds.entries()) {
    const own: Array<number> = []
    const others = new Map(far.map(({ distance }) => [distance, new Array<number>()]))
    for (let time = 0; time < times; time++) {
      const index = number * times + time
      const millis = yield* elapsed(once(index))
      own.push(millis)
      for (const { distance, kinds } of far) {
        const taken = yield* elapsed(kinds[number]?.once(index) ?? Effect.void)
        others.get(distance)?.push(taken)
      }
    }
    for (const [distance, taken] of others) {
      compared.get(distance)?.push({ kind, millis: median(taken), ratio: median(taken) / median(own) })
    }
  }
  return far.flatMap(({ database, distance }) => figuresAt(distance, compared.get(distance) ?? [], database.take()))
}).pipe(Effect.scoped)
