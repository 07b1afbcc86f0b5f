import { afterAll, expect } from "bun:test"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EarlierLeases } from "../../../../actors/running/agent-pool/EarlierLeases.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import type { RunType } from "../../../../schema/records/Run.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { namedCapsule, namedRun } from "../../../support/NamedIds.ts"
import { testQueue } from "./support/TestQueue.ts"

const lease = 3600
const held = lease * 1.01 + 60

const tests = suite(testQueue({ concurrency: 1, workspaceConcurrency: 1 }).pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

const restoredAt = (at: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`DELETE FROM restore_review`
    yield* sql`INSERT INTO restore_review ${sql.insert({
      record_id: "agt_of_the_backup",
      kind: "agent",
      previous_status: "enrolled",
      restored_at: at
    })}`
  })

/** Creates an archived pool whose agents may still apply, and a second pool with a shorter lease. */
const pools = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const at = "2026-01-01T00:00:00.000Z"
  const archived = { name: "archived", lease_seconds: lease, created_at: at, archived_at: at }
  for (const pool of [archived, { ...archived, name: "near", lease_seconds: 120, archived_at: null }]) {
    yield* sql`INSERT INTO agent_pools ${sql.insert(pool)} ON CONFLICT DO NOTHING`
  }
})

/**
 * Runs the effect at the given times, in seconds: one for the wall clock, which people can change, and one for the monotonic
 * clock.
 */
const clocks = <A, E, R>(day: number, monotonic: number, effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock) => {
    const told: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillis: Effect.succeed(day * 1000),
      monotonicTimeNanos: Effect.succeed(BigInt(Math.round(monotonic * 1000)) * 1_000_000n)
    })
    return Effect.provideService(effect, Clock.Clock, told)
  })

const restored = Date.parse("2026-03-01T00:00:00.000Z") / 1000
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

tests.live(
  "the hold after a restore follows the wall clock until the process starts, and then the monotonic clock",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* restoredAt(iso(restored))
      const begunAt = (day: number) =>
        clocks(day, 0, Effect.map(Layer.build(Layer.fresh(EarlierLeases.layer)), Context.get(EarlierLeases)))
      const before = yield* begunAt(restored)
      expect(yield* clocks(restored, 1, before.end)).toBeUndefined()
      yield* pools
      const late = yield* begunAt(restored + 100)
      const until = iso(restored + held)
      // Sets the wall clock far ahead, then far back.
      for (const day of [restored + 100, restored + 1e6, restored - 1e6]) {
        expect(yield* clocks(day, held - 101, late.end)).toBe(until)
        expect(yield* clocks(day, held - 100, late.end)).toBeUndefined()
      }
      // The clock was already behind when the process started, so the time since the restore is unknown.
      const behind = yield* begunAt(restored - 5000)
      expect(yield* clocks(restored, held - 1, behind.end)).toBe(iso(restored - 5000 + held))
      expect(yield* clocks(restored, held, behind.end)).toBeUndefined()
      expect(yield* clocks(restored, 0, (yield* begunAt(restored + held)).end)).toBeUndefined()
      yield* sql`DELETE FROM agent_pools`
      expect(yield* clocks(restored, 0, late.end)).toBeUndefined()
    }).pipe(Effect.scoped)
)

const claim = Effect.flatMap(RunQueue, (queue) => Effect.map(queue.claim("owner"), (run) => run?.id))

const placeOf = Effect.fnUntraced(function* (id: RunId) {
  const row = yield* (yield* RunLedger).find(id)
  return row === undefined ? undefined : yield* (yield* RunQueue).place(row)
})

tests.live("after a restore, applies are held while agents may still run applies that the server does not know", () =>
  Effect.gen(function* () {
    const ledger = yield* RunLedger
    const owner = yield* newPerson("held-applies")
    const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: "held-applies" })
    const queued = Effect.fnUntraced(function* (name: string, type: RunType, trigger: "schedule" | "user" = "user") {
      const runId = namedRun(name)
      const capsuleId = namedCapsule(name)
      yield* ledger.insert({ id: runId, workspaceId, type, capsuleId, trigger, spec: {} })
      return runId
    })
    yield* pools
    yield* restoredAt(new Date().toISOString())
    const check = yield* queued("check", "drift_check", "schedule")
    expect(yield* claim).toBe(check)
    const [apply, destroy] = [yield* queued("apply", "apply"), yield* queued("destroy", "destroy_apply")]
    // Stopping the check would free a place, but no apply may use the place while applies are held.
    expect(yield* claim).toBeUndefined()
    expect((yield* ledger.find(check))?.cancel_requested_at).toBeNull()
    yield* setRun(check, { status: "succeeded", owner: null })
    // A Run that makes no changes can start, although the same person requested an apply earlier.
    const plan = yield* queued("plan", "plan")
    expect(yield* claim).toBe(plan)
    yield* setRun(plan, { status: "succeeded", owner: null })
    expect(yield* claim).toBeUndefined()
    for (const id of [apply, destroy]) {
      expect(yield* placeOf(id)).toMatchObject({
        reason: "no_agent",
        missing: [{ property: "leases" }],
        message: expect.stringContaining("No apply starts before the leases of that time are over, at ")
      })
    }
    yield* restoredAt(iso(Date.now() / 1000 - held - 1))
    expect(yield* placeOf(apply)).toMatchObject({ reason: "turn" })
    expect(yield* claim).toBe(apply)
  })
)
