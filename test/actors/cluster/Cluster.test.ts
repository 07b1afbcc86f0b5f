import { afterAll, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Context, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { handedOver } from "../../../actors/ActorClient.ts"
import { ActorHost } from "../../../actors/ActorHost.ts"
import { actorLayer, handle } from "../../../actors/ActorLayer.ts"
import { cluster } from "../../../actors/cluster/Cluster.ts"
import { derivedId } from "../../../actors/Identity.ts"
import { Sources } from "../../../actors/source/Sources.ts"
import { CapsuleActor } from "../../../schema/protocol/CapsuleActor.ts"
import { ConnectionActor } from "../../../schema/protocol/ConnectionActor.ts"
import { InterfaceActor } from "../../../schema/protocol/InterfaceActor.ts"
import { InstallPlanActor, RevisionPlanActor } from "../../../schema/protocol/PlanActors.ts"
import { RunActor } from "../../../schema/protocol/RunActor.ts"
import { SourceActor } from "../../../schema/protocol/SourceActor.ts"
import { SourceId } from "../../../schema/records/Ids.ts"
import { cryptography } from "../../../src/composition/PlainPlatform.ts"
import { testDatabase } from "../../support/Database.ts"
import { it, suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

// More than the cluster admits at a time unless told otherwise, if a command ever passed it again.
const manyRecords = 10_500

tests.live("commands to many records in a short time are all accepted", () =>
  Effect.gen(function* () {
    const { context } = yield* TestPlane
    const sources = yield* Sources
    const codes = yield* Effect.forEach(
      Array.from({ length: manyRecords }, (_, index) => derivedId(SourceId, "src", "many-records", String(index))),
      (id) => Effect.map(Effect.flip(sources.update(context, id, { name: "renamed" })), ({ code }) => code),
      { concurrency: 100 }
    )
    expect([...new Set(codes)]).toEqual(["not_found"])
  })
)

const Bell = Entity.make("Bell", [
  Rpc.make("Ring", { payload: { by: Schema.String }, primaryKey: ({ by }) => by })
    .annotate(ClusterSchema.Persisted, true)
    .annotate(ClusterSchema.WithTransaction, true)
])

const rung: Array<string> = []
const bells = actorLayer(
  Bell,
  { make: (id: string) => id },
  Effect.succeed(() => handle(Bell, { Ring: ({ payload: { by } }) => Effect.sync(() => void rung.push(by)) }))
)
const stored = suite(
  bells.pipe(Layer.provideMerge(cluster), Layer.provideMerge(testDatabase), Layer.provide(cryptography))
)
afterAll(stored.dispose)

stored.live("a hand-over waits for its record's turn before its transaction begins, not within it", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const host = yield* ActorHost
    const gate = yield* Deferred.make<void>()
    const taken = yield* Deferred.make<void>()
    // A command that has the turn, and writes later.
    const command = Deferred.succeed(taken, undefined).pipe(
      Effect.andThen(Deferred.await(gate)),
      Effect.andThen(sql.withTransaction(sql`SELECT 1 AS one`)),
      host.inTurn("Bell", "one")
    )
    const running = yield* Effect.forkChild(command)
    yield* Deferred.await(taken)
    const bell = yield* Bell.client
    yield* handedOver(bell("one").Ring({ by: "ann" }, { discard: true }))
    yield* handedOver(bell("two").Ring({ by: "bob" }, { discard: true }))
    // Both are read and delivered at once; that of the other record does not wait.
    yield* eventually(
      Effect.sync(() => rung.length),
      (count) => count > 0
    )
    expect(rung).toEqual(["bob"])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(running)
    yield* eventually(
      Effect.sync(() => rung.length),
      (count) => count === 2
    )
    expect(rung).toEqual(["bob", "ann"])
  })
)

it.live("a hand-over is delivered that was stored when there were more shards", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const waiting = sql`SELECT entity_id, shard_id FROM cluster_messages WHERE processed = 0`
    rung.length = 0
    yield* Effect.gen(function* () {
      const bell = yield* Bell.client
      yield* handedOver(bell("three").Ring({ by: "eve" }, { discard: true }))
    }).pipe(Effect.provide(Layer.fresh(cluster), { local: true }))
    yield* sql`UPDATE cluster_messages SET shard_id = 'default:217'`
    expect(yield* waiting).toEqual([{ entity_id: "three", shard_id: "default:217" }])

    yield* Effect.gen(function* () {
      yield* eventually(waiting, (rows) => rows.length === 0)
      expect(rung).toEqual(["eve"])
      expect(yield* sql`SELECT shard_id FROM cluster_messages`).toEqual([{ shard_id: "default:1" }])
    }).pipe(Effect.provide(bells.pipe(Layer.provide(Layer.fresh(cluster))), { local: true }))
  }).pipe(Effect.provide(testDatabase.pipe(Layer.provideMerge(cryptography))))
)

const actors = [
  CapsuleActor,
  ConnectionActor,
  InstallPlanActor,
  InterfaceActor,
  RevisionPlanActor,
  RunActor,
  SourceActor
]

// Only deliveries in a transaction take turns with commands.
test("every stored message is delivered in a transaction", () => {
  const stored = actors.flatMap((actor) =>
    [...actor.protocol.requests.values()].filter((message) => Context.get(message.annotations, ClusterSchema.Persisted))
  )
  expect(stored.length).toBe(6)
  for (const message of stored) expect(Context.get(message.annotations, ClusterSchema.WithTransaction)).toBe(true)
})

// A command through the cluster would not take turns with the others.
test("the cluster carries hand-overs only", () => {
  const folder = join(import.meta.dir, "../../../actors")
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))
  const clients = names.flatMap((name) => {
    const text = readFileSync(join(folder, name), "utf8")
    return [...text.matchAll(/const (\w+) = yield\* \w+Actor\.client\b/g)].map(([, client]) => ({ name, text, client }))
  })
  expect(clients.length).toBeGreaterThan(5)
  for (const { client, name, text } of clients) {
    for (const [line] of text.matchAll(new RegExp(`^.*[^\\w.]${client}\\(.*$`, "gm"))) {
      expect(line, name).toMatch(/handedOver\(|\? installs\(id\) : revisions\(id\)/)
    }
  }
})
