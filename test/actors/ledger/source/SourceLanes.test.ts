import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SourceLanes } from "../../../../actors/ledger/source/SourceLanes.ts"
import { seed, world } from "../../../src/http/support/World.ts"
import { testDatabase } from "../../../support/Database.ts"
import { suite } from "../../../support/Effect.ts"

const tests = suite(
  SourceLanes.layer.pipe(Layer.provideMerge(Layer.effectDiscard(seed)), Layer.provideMerge(testDatabase))
)
afterAll(tests.dispose)

const lane = { ref: "HEAD", path: "." }
const unreachable = { code: "source_unreachable", message: "No answer." }
const looked = (day: number) => `2026-01-0${day}T00:00:00.000Z`

const seen = (day: number, commit: string) =>
  Effect.flatMap(SourceLanes, (lanes) =>
    lanes.seen(world.sourceId, lane, { snapshotId: world.sourceSnapshotId, commit, lookedAt: looked(day) })
  )
const failed = (day: number, error = unreachable) =>
  Effect.flatMap(SourceLanes, (lanes) => lanes.failed(world.sourceId, lane, error, looked(day)))
const standing = Effect.flatMap(SourceLanes, (lanes) => lanes.find(world.sourceId, lane))
const settled = Effect.gen(function* () {
  yield* (yield* SourceLanes).settleStatus(world.sourceId)
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT status FROM sources WHERE id = ${world.sourceId}`
  return row?.["status"]
})
const isDue = Effect.map(
  Effect.flatMap(SourceLanes, ({ due }) => due),
  (lanes) => lanes.some(({ sourceId }) => sourceId === world.sourceId)
)
const set = (table: string, columns: Readonly<Record<string, string | number | null>>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE ${sql(table)} SET ${sql.update(columns)}`)

tests.live("the schedule syncs only Sources with automatic sync in an active Workspace", () =>
  Effect.gen(function* () {
    expect(yield* isDue).toBe(false)
    yield* set("sources", { auto_sync: 1 })
    expect(yield* isDue).toBe(true)
    yield* set("sources", { status: "disabled" })
    expect(yield* isDue).toBe(false)
    yield* set("sources", { status: "active" })
    yield* set("workspaces", { archived_at: looked(1) })
    expect(yield* isDue).toBe(false)
    yield* set("workspaces", { archived_at: null })
    yield* (yield* SourceLanes).expected(world.sourceId, lane)
    expect(yield* isDue).toBe(false)
  })
)

tests.live("a check that started earlier but finishes later changes nothing", () =>
  Effect.gen(function* () {
    expect(yield* seen(3, "c")).toBe(true)
    expect(yield* seen(2, "b")).toBe(false)
    expect(yield* failed(2)).toBe(false)
    expect(yield* standing).toMatchObject({ resolved_commit: "c", last_look_at: looked(3), error_code: null })
  })
)

tests.live("a lane records its failure once, keeps its commit, and recovers with the next successful sync", () =>
  Effect.gen(function* () {
    expect(yield* failed(4)).toBe(true)
    expect(yield* failed(5)).toBe(false)
    expect(yield* standing).toMatchObject({
      resolved_commit: "c",
      error_code: unreachable.code,
      error_since: looked(4)
    })
    expect(yield* settled).toBe("error")
    yield* seen(6, "c")
    expect(yield* standing).toMatchObject({ error_code: null, error_since: null, last_change_at: looked(3) })
    expect(yield* settled).toBe("active")
  })
)

tests.live(
  "a lane checked while the clock was wrong is checked again, and the new result replaces the earlier result",
  () =>
    Effect.gen(function* () {
      const ahead = "2999-01-01T00:00:00.000Z"
      yield* set("source_lanes", { last_look_at: ahead, next_look_at: ahead })
      expect(yield* isDue).toBe(true)
      expect(yield* seen(8, "d")).toBe(true)
      expect(yield* standing).toMatchObject({ resolved_commit: "d", last_look_at: looked(8) })
      yield* set("source_lanes", { last_look_at: ahead, next_look_at: ahead })
      expect(yield* failed(9)).toBe(true)
      expect(yield* standing).toMatchObject({ error_code: unreachable.code, last_look_at: looked(9) })
      expect(yield* isDue).toBe(false)
    })
)
