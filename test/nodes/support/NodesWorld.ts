import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, FileSystem, Redacted, Schedule, Schema, Semaphore } from "effect"
import { FetchHttpClient } from "effect/http"
import type { PostgresServer } from "../../../scripts/PostgresServer.ts"
import { makeCodecs } from "../../../src/database/postgres/PostgresConnection.ts"
import { isOver, agentWorld } from "../../agents/support/AgentWorld.ts"
import { keptAgent } from "../../agents/cases/Journeys.ts"
import { Broken } from "../../crash/CrashClient.ts"
import { reviewed } from "../../support/ReviewedPlan.ts"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"
import { makeClient } from "../../../src/client/index.ts"
import { balancer } from "../line/Balancer.ts"
import { tcpLine } from "../line/TcpLine.ts"
import { type Life, nodeEnvironment, serverNode } from "./ServerNode.ts"

export interface NodesOptions {
  readonly folder: string
  /** The server program, which supports kill points, and the agent program. */
  readonly server: string
  readonly agent: string
  readonly postgres: Pick<PostgresServer, "url" | "socket" | "start" | "stop">
  /** The server program of the next release, built when it is first used. */
  readonly next: Effect.Effect<string, unknown>
  /** The file in which the servers' lives are recorded, if another world has begun it. */
  readonly history?: string
  readonly nodes?: number
  readonly agents?: number
  readonly leaseSeconds?: number
}

const often = Schedule.spaced("100 millis")
let databases = 0

const Composed = Schema.Struct({
  "x-node": Schema.Struct({ environment: Schema.Record(Schema.String, Schema.String) })
})

/** Returns the environment of a node in the compose file. This suite starts nodes without a container engine. */
const composedEnvironment = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const text = yield* files.readFileString(
    fileURLToPath(new URL("../../../examples/nodes/compose.yaml", import.meta.url))
  )
  return (yield* Schema.decodeUnknownEffect(Composed)(Bun.YAML.parse(text)))["x-node"].environment
})

/**
 * Starts several servers on one database, with agents and a line between each pair of these programs. A case can cut, stop
 * and delay each line.
 */
export const nodesWorld = Effect.fn("nodesWorld")(function* (options: NodesOptions) {
  const { folder, postgres } = options
  const socketUrl = (database: string) => Redacted.make(postgres.url.replace("/postgres?", `/${database}?`))
  const createDatabase = Effect.gen(function* () {
    databases += 1
    const created = `nodes_${databases}`
    const statement = `CREATE DATABASE ${created} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`
    yield* Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: socketUrl("postgres") }), (session) =>
        session.query(statement, [], false)
      )
    )
    return created
  })
  const name = yield* createDatabase
  /** The suite's own access to the database, without a line in between. */
  const databaseUrl = socketUrl(name)
  const front = yield* balancer()
  const composed = yield* composedEnvironment
  const databaseLine = () => tcpLine(() => ({ path: postgres.socket }))
  const masterKey = randomBytes(32).toString("hex")
  const environmentOf =
    (port: number, database: string) =>
    (life: Life = {}) => ({
      ...composed,
      ...nodeEnvironment(life),
      SVC_DATABASE_URL: `postgres://svc@127.0.0.1:${port}/${database}`,
      SVC_MASTER_KEY: masterKey,
      SVC_BASE_URL: front.url
    })

  const firstLine = yield* databaseLine()
  const history = options.history ?? `${folder}-history`
  if (options.history === undefined) writeFileSync(history, "")
  const world = yield* agentWorld({
    folder,
    server: options.server,
    agent: options.agent,
    serverEnv: environmentOf(firstLine.port, name)(),
    front: { url: front.url, first: front.join },
    ...(options.leaseSeconds === undefined ? {} : { leaseSeconds: options.leaseSeconds })
  })
  front.leave(world.own.url)
  const nodes = yield* Effect.forEach(
    Array.from({ length: options.nodes ?? 3 }, (_, index) => index),
    Effect.fnUntraced(function* (index) {
      const database = index === 0 ? firstLine : yield* databaseLine()
      return yield* serverNode({
        name: `node ${index + 1}`,
        folder: index === 0 ? world.dataDir : `${folder}/data-${index + 1}`,
        world,
        balancer: front,
        database,
        environment: environmentOf(database.port, name),
        history,
        ...(index === 0 ? { first: world.own } : {})
      })
    })
  )
  yield* Effect.forEach(nodes, ({ serving }) => serving, { concurrency: "unbounded" })
  const agents = yield* Effect.forEach(
    Array.from({ length: options.agents ?? 2 }, (_, index) => `agent-${index + 1}`),
    (agent) => Effect.flatMap(world.agent(agent), keptAgent)
  )

  const queryOf = (url: Redacted.Redacted) => (text: string) =>
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url, types: makeCodecs() }), (session) =>
        Effect.map(session.query(text, [], false), ({ rows }) => rows)
      )
    ).pipe(Effect.orDie)
  const query = queryOf(databaseUrl)

  /** Creates another database, and returns the environment of a server that uses it. */
  const emptyDatabase = Effect.map(createDatabase, (created) => ({
    environment: environmentOf(firstLine.port, created)(),
    query: queryOf(socketUrl(created))
  }))

  /** Repeats a request until there is a response, as a client with an idempotency key does. Fails after a timeout. */
  const insist = <A, E, R>(what: string, ask: Effect.Effect<A, E, R>, within = "60 seconds" as const) =>
    Effect.gen(function* () {
      let last = ""
      return yield* ask.pipe(
        Effect.tapCause((cause) => Effect.sync(() => (last = String(cause)))),
        Effect.retry(often),
        Effect.timeoutOrElse({
          duration: within,
          orElse: () => new Broken({ message: `${what} had no success in ${within}: ${last.slice(0, 600)}` })
        })
      )
    })

  const run = (runId: RunId) => insist(`Reading ${runId}`, world.run(runId))
  const over = (runId: RunId, within: "3 minutes" | "5 minutes" = "3 minutes") =>
    Effect.repeat(run(runId), { until: isOver, schedule: often }).pipe(
      Effect.timeoutOrElse({
        duration: within,
        orElse: () =>
          Effect.flatMap(run(runId), (found) => new Broken({ message: `${runId} waits: ${JSON.stringify(found)}` }))
      })
    )

  const installed = (label: string, module: "notes" | "built" | "plain" = "notes") =>
    insist(`Installing ${label}`, world.installed(label, module), "60 seconds")

  /** Approves and applies a plan, even if servers are killed repeatedly in the meantime. */
  const applied = Effect.fnUntraced(function* (planRunId: RunId) {
    const plan = yield* run(planRunId)
    yield* insist(
      `Approving ${planRunId}`,
      Effect.gen(function* () {
        if ((yield* world.run(planRunId)).approvedAt !== undefined) return
        yield* world.client.runs.approve({ params: { runId: planRunId }, payload: reviewed(plan) })
      })
    )
    const answer = yield* insist(
      `Applying ${planRunId}`,
      world.client.runs.apply({
        params: { runId: planRunId },
        headers: { "idempotency-key": `apply-${planRunId}` },
        payload: {}
      })
    )
    return answer.run.id
  })

  /** Runs a command of the server's program, and returns what it prints. */
  const told = (args: ReadonlyArray<string>) =>
    Effect.promise(async () => {
      const env = { PATH: process.env["PATH"] ?? "", HOME: folder }
      const child = Bun.spawn([options.server, ...args], { cwd: folder, env, stdout: "pipe", stderr: "pipe" })
      const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      return { stdout, stderr, code: await child.exited }
    })

  const restarts = yield* Semaphore.make(1)
  const databaseRestarted = Effect.andThen(
    postgres.stop("fast"),
    Effect.andThen(Effect.sleep("1 second"), postgres.start)
  )

  return {
    ...world,
    options,
    /** Restarts the database for all servers. Only one restart runs at a time. */
    databaseRestarted: restarts.withPermits(1)(Effect.uninterruptible(databaseRestarted)),
    run,
    over,
    installed,
    applied,
    insist,
    query,
    told,
    emptyDatabase,
    clientOf: (url: string) =>
      makeClient({ baseUrl: url, token: world.token }).pipe(Effect.provide(FetchHttpClient.layer)),
    databaseUrl,
    masterKey,
    balancer: front,
    nodes,
    keptAgents: agents,
    postgres,
    history,
    status: (capsuleId: CapsuleId) =>
      insist(
        `Reading ${capsuleId}`,
        Effect.map(world.capsule(capsuleId), ({ status }) => status)
      )
  }
})
export type NodesWorld = Effect.Success<ReturnType<typeof nodesWorld>>

/** A world with a new database, for a case that other cases must not meet afterwards. */
export const anotherWorld = ({ history, options }: NodesWorld, label: string, more: Partial<NodesOptions> = {}) =>
  nodesWorld({ ...options, history, folder: `${options.folder}-${label}`, ...more })
