import { NodeServices } from "@effect/platform-node"
import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import * as Database from "../../../../src/database/Database.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { migratedFolder } from "../../../support/MigratedDatabase.ts"
import { it } from "../../../support/Effect.ts"
import { namedRun, namedWorkspace } from "../../../support/NamedIds.ts"
import { type RunId, type WorkspaceId } from "../../../../schema/records/Ids.ts"
import { testQueue } from "./support/TestQueue.ts"

/** Simulates successive processes on the same database. */
const processAt = (folder: string) =>
  testQueue({ concurrency: 1 }).pipe(
    Layer.provideMerge(Layer.fresh(Database.layer)),
    Layer.provide(DataFolder.layer(folder)),
    Layer.provide(NodeServices.layer)
  )

const queued = Effect.fnUntraced(function* (id: RunId, workspaceId: WorkspaceId, createdBy: string) {
  yield* (yield* RunLedger).insert({ id, workspaceId, type: "plan", createdBy, trigger: "user", spec: {} })
})

const claim = Effect.gen(function* () {
  return (yield* (yield* RunQueue).claim("owner"))?.id
})

const moved = Effect.fnUntraced(function* (id: RunId, to: "queued" | "succeeded") {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const run = (yield* ledger.find(id)) ?? (yield* Effect.die("no Run"))
  yield* transaction(sql)(
    to === "queued" ? lifecycle.requeue(holdOf(run), "again", { counts: true }) : lifecycle.succeed(holdOf(run), {})
  )
})

/** Claims the next Run, and finishes it. */
const turn = Effect.tap(claim, (id) => (id === undefined ? Effect.void : moved(id, "succeeded")))

it.live(
  "after a restart, a person who has had a turn still waits for the others, and a requeued Run keeps its place",
  () =>
    Effect.gen(function* () {
      const folder = yield* migratedFolder
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const at = "2026-01-01T00:00:00.000Z"
        for (const id of [namedWorkspace("a"), namedWorkspace("b"), namedWorkspace("c")]) {
          yield* sql`INSERT INTO workspaces ${sql.insert({ id, handle: id, display_name: id, type: "organization", created_at: at, updated_at: at })}`
        }
        for (const id of [namedRun(1), namedRun(2), namedRun(3)]) yield* queued(id, namedWorkspace("a"), "usr_ada")
        yield* queued(namedRun(4), namedWorkspace("a"), "usr_bob")
        yield* queued(namedRun(5), namedWorkspace("b"), "usr_cyd")
        yield* queued(namedRun(6), namedWorkspace("c"), "usr_dan")
        expect(yield* claim).toBe(namedRun(1))
        expect(yield* claim).toBeUndefined()
      }).pipe(Effect.provide(processAt(folder)))

      yield* Effect.gen(function* () {
        // Recovers the Runs that the previous process left behind.
        yield* moved(namedRun(1), "queued")
        const order = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7], () => turn)
        expect(order).toEqual([namedRun(5), namedRun(6), namedRun(4), namedRun(1), namedRun(2), namedRun(3), undefined])
      }).pipe(Effect.provide(processAt(folder)))
    }).pipe(Effect.provide(NodeServices.layer))
)
