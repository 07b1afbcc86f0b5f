import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { preemptedReason } from "../../../../actors/ledger/run/RunCancels.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import type { RecordedPurpose, RunType } from "../../../../schema/records/Run.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { namedCapsule, namedRun } from "../../../support/NamedIds.ts"
import { type CapsuleId, PullRequestId, type RunId } from "../../../../schema/records/Ids.ts"
import { testQueue } from "./support/TestQueue.ts"

const tests = suite(testQueue({ concurrency: 3, workspaceConcurrency: 2 }).pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

let counter = 0

/** Creates a Workspace, and a function that queues Runs in it in the order of the calls. */
const workspace = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  counter += 1
  const owner = yield* newPerson(`queue-${counter}`)
  const { id } = yield* newWorkspace(owner.subject, { handle: `queue-${counter}` })
  const queued = Effect.fnUntraced(function* (
    name: string,
    type: RunType,
    capsuleId?: CapsuleId,
    purpose?: RecordedPurpose
  ) {
    const runId = namedRun(`${counter}${name}`)
    yield* ledger.insert({ id: runId, workspaceId: id, type, capsuleId, trigger: "user", purpose, spec: {} })
    counter += 1
    yield* setRun(runId, { queued_at: `2026-01-01T00:00:${String(counter % 60).padStart(2, "0")}.000Z` })
    return runId
  })
  const finish = (...ids: ReadonlyArray<RunId>) =>
    Effect.forEach(ids, (runId) =>
      Effect.gen(function* () {
        const run = (yield* ledger.find(runId)) ?? (yield* Effect.die("no Run"))
        yield* lifecycle.succeed(holdOf(run), {})
      }).pipe(transaction(sql))
    )
  return { queued, finish, workspaceId: id }
})

const claim = Effect.gen(function* () {
  return (yield* (yield* RunQueue).claim("owner"))?.id
})
const placeOf = Effect.fnUntraced(function* (id: RunId) {
  const row = yield* (yield* RunLedger).find(id)
  return row === undefined ? undefined : yield* (yield* RunQueue).place(row)
})

tests.live("each Capsule has at most one active Run, and drift checks wait for people's requests", () =>
  Effect.gen(function* () {
    const { finish, queued } = yield* workspace
    const apply = yield* queued("apply", "apply", namedCapsule("1"))
    const drift = yield* queued("drift", "drift_check", namedCapsule("1"))
    const plan = yield* queued("plan", "plan", namedCapsule("1"))
    const backup = yield* queued("backup", "backup", namedCapsule("1"))
    expect(yield* claim).toBe(apply)
    expect(yield* placeOf(apply)).toBeUndefined()
    expect(yield* placeOf(plan)).toMatchObject({
      position: 2,
      pool: "runs",
      reason: "capsule_busy",
      heldByRunId: apply
    })
    expect(yield* placeOf(drift)).toMatchObject({ position: 3, reason: "capsule_busy", heldByRunId: apply })
    // A Run that neither reads nor changes infrastructure need not wait for its Capsule.
    expect(yield* claim).toBe(backup)
    expect(yield* claim).toBeUndefined()
    yield* finish(apply, backup)
    expect(yield* claim).toBe(plan)
    expect(yield* claim).toBeUndefined()
    yield* finish(plan)
    expect(yield* claim).toBe(drift)
    yield* finish(drift)
  })
)

tests.live(
  "a speculative plan neither waits for nor delays other Runs of its Capsule, and starts after people's other Runs",
  () =>
    Effect.gen(function* () {
      const { finish, queued } = yield* workspace
      const speculative = yield* queued("speculative", "plan", namedCapsule("1"), "speculative")
      const apply = yield* queued("apply", "apply", namedCapsule("1"))
      const plan = yield* queued("plan", "plan", namedCapsule("1"))
      expect(yield* claim).toBe(apply)
      // The Workspace's only free place is reserved for other Runs.
      expect(yield* placeOf(speculative)).toMatchObject({ reason: "place_kept" })
      expect(yield* placeOf(plan)).toMatchObject({ reason: "capsule_busy", heldByRunId: apply })
      expect(yield* claim).toBeUndefined()
      yield* finish(apply)
      expect(yield* claim).toBe(plan)
      yield* finish(plan)
      expect(yield* claim).toBe(speculative)
      const next = yield* queued("next", "apply", namedCapsule("1"))
      expect(yield* claim).toBe(next)
      yield* finish(speculative, next)
    })
)

tests.live("a fetch of a pull request's head starts after all other syncs, and never takes the last place", () =>
  Effect.gen(function* () {
    const ledger = yield* RunLedger
    const { finish, queued, workspaceId } = yield* workspace
    const coordinator = { kind: "pull_request", id: PullRequestId.make("pr_aaaaaaaaaaaaaaaaaaaaaaaa") } as const
    const heads = ["1", "2"].map((name) => namedRun(`head${counter}${name}`))
    for (const id of heads) {
      yield* ledger.insert({ id, workspaceId, type: "source_sync", coordinator, trigger: "schedule", spec: {} })
      yield* setRun(id, { queued_at: "2026-01-01T00:00:00.000Z" })
    }
    const sync = yield* queued("sync", "source_sync")
    expect(yield* claim).toBe(sync)
    expect(yield* claim).toBeUndefined()
    expect(yield* placeOf(heads[0] ?? sync)).toMatchObject({ pool: "builds", reason: "place_kept" })
    yield* finish(sync)
    const first = yield* claim
    expect(heads).toContain(first ?? sync)
    expect(yield* claim).toBeUndefined()
    const next = yield* queued("next", "source_sync")
    expect(yield* claim).toBe(next)
    yield* finish(next, ...(first === undefined ? [] : [first]))
    const second = yield* claim
    yield* finish(...(second === undefined ? [] : [second]))
  })
)

tests.live("a person's Run starts even if speculative plans occupy every place that they may take", () =>
  Effect.gen(function* () {
    const [one, two] = [yield* workspace, yield* workspace]
    const speculative = (of: typeof one, name: string) => of.queued(name, "plan", namedCapsule(name), "speculative")
    const own = [yield* speculative(one, "s1"), yield* speculative(one, "s2"), yield* speculative(one, "s3")]
    const others = [yield* speculative(two, "s4"), yield* speculative(two, "s5")]
    const started = [yield* claim, yield* claim]
    // One speculative Run starts in each Workspace. The last place of each Workspace, and the last place overall, stay free.
    expect(new Set(started)).toEqual(new Set([own[0], others[0]]))
    expect(yield* claim).toBeUndefined()
    const [person, later] = [yield* one.queued("p1", "plan", namedCapsule("p1")), yield* two.queued("p2", "plan")]
    expect(yield* claim).toBe(person)
    expect(yield* claim).toBeUndefined()
    yield* one.finish(person)
    expect(yield* claim).toBe(later)
    yield* two.finish(later)
    for (const id of started) if (id !== undefined) yield* one.finish(id)
    for (let left = own.length + others.length - started.length; left > 0; left--) {
      const next = yield* claim
      if (next !== undefined) yield* one.finish(next)
    }
  })
)

tests.live("limits apply per Workspace and overall, and drift checks leave one place open", () =>
  Effect.gen(function* () {
    const one = yield* workspace
    const other = yield* workspace
    const first = yield* one.queued("a", "plan", namedCapsule("a"))
    const second = yield* one.queued("b", "plan", namedCapsule("b"))
    const third = yield* one.queued("c", "plan", namedCapsule("c"))
    const elsewhereDrift = yield* other.queued("d", "drift_check", namedCapsule("d"))
    const elsewhere = yield* other.queued("e", "plan", namedCapsule("e"))
    expect(yield* placeOf(third)).toMatchObject({ position: 3, reason: "turn" })
    expect(yield* claim).toBe(first)
    // Workspaces take turns, although the first Workspace queued several Runs before the second arrived.
    expect(yield* claim).toBe(elsewhere)
    // A drift check must not take the last place.
    expect(yield* placeOf(elsewhereDrift)).toMatchObject({ position: 1, reason: "place_kept", limit: 3 })
    expect(yield* claim).toBe(second)
    expect(yield* claim).toBeUndefined()
    expect(yield* placeOf(third)).toEqual({
      position: 1,
      pool: "runs",
      reason: "workspace_limit",
      limit: 2,
      heldByRunId: first,
      message: "The Workspace has 2 Runs executing, which is its limit. The next starts when one of them ends."
    })
    yield* one.finish(first)
    expect(yield* claim).toBe(third)
    expect(yield* placeOf(elsewhereDrift)).toMatchObject({ reason: "places_taken", limit: 3, heldByRunId: elsewhere })
    yield* one.finish(second)
    expect(yield* claim).toBeUndefined()
    yield* one.finish(third)
    // A drift check must not take the last place of its Workspace either, because a person may need that place.
    expect(yield* claim).toBeUndefined()
    expect(yield* placeOf(elsewhereDrift)).toMatchObject({ reason: "place_kept", limit: 2, heldByRunId: elsewhere })
    yield* other.finish(elsewhere)
    expect(yield* claim).toBe(elsewhereDrift)
    yield* other.finish(elsewhereDrift)
  })
)

tests.live("a scheduled drift check is stopped to free a slot for a waiting Run that a person requested", () =>
  Effect.gen(function* () {
    const { finish, queued, workspaceId } = yield* workspace
    const ledger = yield* RunLedger
    const check = namedRun("scheduled")
    const scheduled = { type: "drift_check", capsuleId: namedCapsule("s"), trigger: "schedule", spec: {} } as const
    yield* ledger.insert({ id: check, workspaceId, ...scheduled })
    expect(yield* claim).toBe(check)
    const first = yield* queued("first", "plan", namedCapsule("f"))
    expect(yield* claim).toBe(first)
    expect((yield* ledger.find(check))?.cancel_requested_at).toBeNull()
    const second = yield* queued("second", "plan", namedCapsule("g"))
    expect(yield* claim).toBeUndefined()
    expect((yield* ledger.find(check))?.cancel_reason).toBe(preemptedReason)
    const stopping = (yield* ledger.find(check)) ?? (yield* Effect.die("no Run"))
    yield* transaction(yield* SqlClient.SqlClient)((yield* RunLifecycle).cancel(holdOf(stopping)))
    expect(yield* claim).toBe(second)
    yield* finish(first, second)
  })
)

tests.live("concurrent claims never claim the same Run", () =>
  Effect.gen(function* () {
    const { finish, queued } = yield* workspace
    const ids = [yield* queued("x", "plan", namedCapsule("x")), yield* queued("y", "plan", namedCapsule("y"))]
    const claims = yield* Effect.all(
      Array.from({ length: 6 }, () => claim),
      { concurrency: "unbounded" }
    )
    expect(claims.filter((id) => id !== undefined).toSorted()).toEqual(ids.toSorted())
    yield* finish(...ids)
  })
)
