import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { transaction } from "../../../actors/base/database/Transaction.ts"
import { DueWork, stuckWork } from "../../../actors/base/DueWork.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { testDatabase } from "../../support/Database.ts"
import { it } from "../../support/Effect.ts"
import { withoutForeignKeys } from "../../support/Dialect.ts"

const workspace = WorkspaceId.make("ws_aaaaaaaaaaaaaaaaaaaaaaaa")
const at = "2026-01-01T00:00:00.000Z"

/**
 * Test handler for due work: rings the bells that are marked as due. If a bell is in `broken`, its step fails and it keeps
 * its mark. Each step waits for the bell's gate and, after the commit, for the bell's echo.
 */
const bells = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const due = yield* DueWork
  const rung: Array<string> = []
  const broken = new Set<string>()
  const gates = new Map<string, Deferred.Deferred<void>>()
  const echoes = new Map<string, Deferred.Deferred<void>>()
  yield* withoutForeignKeys(sql)
  yield* sql`CREATE TABLE bells (id TEXT PRIMARY KEY, workspace_id TEXT, due INTEGER)`
  yield* due.serve({
    kind: "interface",
    due: Effect.orDie(
      sql<{ id: string; workspace_id: WorkspaceId }>`SELECT id, workspace_id FROM bells WHERE due = 1 ORDER BY id`
    ),
    step: Effect.fnUntraced(
      function* ({ id }) {
        const gate = gates.get(id)
        if (gate !== undefined) yield* Deferred.await(gate)
        rung.push(id)
        yield* Effect.orDie(sql`UPDATE bells SET due = 0 WHERE id = ${id}`)
        if (broken.has(id)) return yield* Effect.die(new Error("broken"))
      },
      transaction(sql),
      (ringing, { id }) => {
        const echo = echoes.get(id)
        return echo === undefined ? ringing : Effect.andThen(ringing, Deferred.await(echo))
      }
    )
  })
  const mark = Effect.fnUntraced(function* (id: string) {
    yield* sql`INSERT INTO bells VALUES (${id}, ${workspace}, 1) ON CONFLICT (id) DO UPDATE SET due = 1`
    yield* sql.afterCommit(due.wake)
  }, transaction(sql))
  const marked = Effect.map(sql<{ id: string }>`SELECT id FROM bells WHERE due = 1`, (rows) => rows.map(({ id }) => id))
  return { sql, due, rung, broken, gates, echoes, mark, marked }
})

const provided = DueWork.layer.pipe(Layer.provideMerge(testDatabase))

/** Lets running work finish. The test database responds within a few turns of the event loop. */
const settle = Effect.forEach(
  Array.from({ length: 20 }),
  () =>
    Effect.andThen(
      Effect.promise(() => new Promise<void>((done) => void setImmediate(done))),
      Effect.yieldNow
    ),
  { discard: true }
)

describe("Due work", () => {
  it.effect("due work runs once, after the transaction that marked it as due commits", () =>
    Effect.gen(function* () {
      const { due, mark, marked, rung } = yield* bells
      yield* mark("before the follower")
      const following = yield* Effect.forkChild(due.follow)
      yield* settle
      yield* mark("later")
      yield* settle
      expect(rung).toEqual(["before the follower", "later"])
      expect(yield* marked).toEqual([])
      yield* TestClock.adjust("10 minutes")
      yield* settle
      expect(rung).toHaveLength(2)
      yield* Fiber.interrupt(following)
    }).pipe(Effect.provide(provided))
  )

  it.effect("the next poll finds due work whose wake-up was lost", () =>
    Effect.gen(function* () {
      const { due, rung, sql } = yield* bells
      yield* Effect.forkChild(due.follow)
      yield* settle
      yield* sql`INSERT INTO bells VALUES ('unheard', ${workspace}, 1)`
      yield* TestClock.adjust("29 seconds")
      yield* settle
      expect(rung).toEqual([])
      yield* TestClock.adjust("1 second")
      yield* settle
      expect(rung).toEqual(["unheard"])
    }).pipe(Effect.provide(provided))
  )

  it.effect("due work runs again if it is marked again during its step", () =>
    Effect.gen(function* () {
      const { due, gates, mark, rung, sql } = yield* bells
      const gate = yield* Deferred.make<void>()
      gates.set("a", gate)
      yield* Effect.forkChild(due.follow)
      yield* settle
      // Marks the bell from another fiber, because the waiting step holds the database transaction.
      yield* Effect.forkChild(mark("a"))
      yield* settle
      const again = yield* Effect.forkChild(mark("a"))
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      yield* Fiber.join(again)
      yield* settle
      expect(rung).toEqual(["a", "a"])
      expect(yield* sql`SELECT id FROM bells WHERE due = 1`).toEqual([])
    }).pipe(Effect.provide(provided))
  )

  it.effect("due work runs again after its step if it is marked again after the step's commit", () =>
    Effect.gen(function* () {
      const { due, echoes, mark, marked, rung } = yield* bells
      const echo = yield* Deferred.make<void>()
      echoes.set("a", echo)
      yield* Effect.forkChild(due.follow)
      yield* mark("a")
      yield* settle
      yield* mark("a")
      yield* settle
      expect(rung).toEqual(["a"])
      expect(yield* marked).toEqual(["a"])
      yield* Deferred.succeed(echo, undefined)
      yield* settle
      expect(rung).toEqual(["a", "a"])
      expect(yield* marked).toEqual([])
    }).pipe(Effect.provide(provided))
  )

  it.effect("due work that fails keeps its mark and backs off without delaying other records", () =>
    Effect.gen(function* () {
      const { broken, due, mark, marked, rung } = yield* bells
      broken.add("a")
      yield* mark("a")
      yield* Effect.forkChild(due.follow)
      yield* settle
      expect(rung).toEqual(["a"])
      // Waking another record must not retry the failing record early.
      for (const id of ["b", "c", "d"]) {
        yield* mark(id)
        yield* settle
      }
      expect(rung).toEqual(["a", "b", "c", "d"])
      expect(yield* marked).toEqual(["a"])
      yield* TestClock.adjust("1 second")
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* settle
      expect(rung.filter((id) => id === "a")).toHaveLength(2)
      yield* TestClock.adjust("1 second")
      yield* settle
      expect(rung.filter((id) => id === "a")).toHaveLength(3)
    }).pipe(Effect.provide(provided))
  )

  it.effect("due work that fails for minutes appears in its Workspace's attention list until it succeeds", () =>
    Effect.gen(function* () {
      const { broken, due, mark, rung, sql } = yield* bells
      broken.add("a")
      yield* mark("a")
      yield* Effect.forkChild(due.follow)
      yield* settle
      const tries = Effect.fnUntraced(function* (seconds: number) {
        yield* TestClock.adjust(`${seconds} seconds`)
        yield* settle
      })
      for (const wait of [1, 2, 4, 8, 16, 32, 64, 128]) yield* tries(wait)
      expect(rung).toHaveLength(9)
      expect(yield* stuckWork(sql, workspace)).toEqual([])
      yield* tries(256)
      expect(yield* stuckWork(sql, workspace)).toMatchObject([{ kind: "interface", record_id: "a" }])
      // The backoff never exceeds five minutes.
      yield* tries(300)
      expect(rung).toHaveLength(11)
      broken.delete("a")
      yield* tries(300)
      expect(yield* stuckWork(sql, workspace)).toEqual([])
    }).pipe(Effect.provide(provided))
  )

  it.effect("due work leaves the attention list when it succeeds after a restart", () =>
    Effect.gen(function* () {
      const { due, mark, sql } = yield* bells
      const row = { kind: "interface", record_id: "a", workspace_id: workspace, since: at }
      yield* sql`INSERT INTO stuck_work ${sql.insert(row)}`
      yield* mark("a")
      yield* Effect.forkChild(due.follow)
      yield* settle
      expect(yield* stuckWork(sql, workspace)).toEqual([])
    }).pipe(Effect.provide(provided))
  )
})
