import { afterAll, expect } from "bun:test"
import { Deferred, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { atStartAndEveryMinute, CleanupRhythm } from "../../../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { it, suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

it.effect("cleanup runs at startup and every minute thereafter", () =>
  Effect.gen(function* () {
    let turns = 0
    yield* Effect.forkScoped(atStartAndEveryMinute(Effect.sync(() => turns++)))
    yield* TestClock.adjust("0 millis")
    expect(turns).toBe(1)
    yield* TestClock.adjust("59 seconds")
    expect(turns).toBe(1)
    yield* TestClock.adjust("2 minutes")
    expect(turns).toBe(3)
  })
)

it.effect("cleanup continues with the next turn after a failed turn", () =>
  Effect.gen(function* () {
    let turns = 0
    const failing = Effect.suspend(() => (++turns === 1 ? Effect.die(new Error("the database is away")) : Effect.void))
    yield* Effect.forkScoped(atStartAndEveryMinute(failing))
    yield* TestClock.adjust("1 minute")
    expect(turns).toBe(2)
  })
)

const due = Latch.makeUnsafe()
const taken = Deferred.makeUnsafe<void>()
const once = Layer.succeed(CleanupRhythm, (turn) =>
  due.await.pipe(Effect.andThen(turn), Effect.andThen(Deferred.succeed(taken, undefined)))
)
const tests = suite(testPlane({ cleanup: once }))
afterAll(tests.dispose)

tests.live("cleanup performs the due work without a request", () =>
  Effect.gen(function* () {
    const { context, url, workspaceId } = yield* TestPlane
    const { source } = yield* (yield* Sources).create(context, { workspaceId, name: "due", url, autoSync: true })
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO state_uploads (id, workspace_id, sha256, size_bytes, lineage, serial, resource_count, state,
      created_at, expires_at) VALUES ('sup_aaaaaaaaaaaaaaaaaaaaaaaa', ${workspaceId}, 'd', 1, 'l', 1, 0, 'sealed',
      '2020-01-01T00:00:00.000Z', '2020-01-01T01:00:00.000Z')`
    yield* due.open
    yield* Deferred.await(taken)
    const { items } = yield* (yield* Runs).list(workspaceId, { sourceId: source.id, includeLooks: true }, { limit: 10 })
    expect(items.map(({ trigger }) => trigger)).toEqual(["schedule"])
    expect(yield* sql`SELECT id FROM state_uploads`).toEqual([])
    for (const { id } of items) yield* settled(id)
  })
)
