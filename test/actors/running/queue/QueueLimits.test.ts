import { afterAll, describe, expect } from "bun:test"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DeferredFollows } from "../../../../actors/commands/capsule/DeferredFollows.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { SourceSchedule } from "../../../../actors/commands/source/SourceSchedule.ts"
import { errorStatuses } from "../../../../schema/errors/ApiError.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, freshKey, requestOf, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const limit = 10
const tests = suite(testPlane({ run: { workspaceQueue: limit } }))
afterAll(tests.dispose)

let fillers = 0

/** Queues this many Runs in the Workspace behind a Capsule that is always busy. Removes the Runs when the Scope closes. */
const filled = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const { workspaceId } = yield* TestPlane
  const at = "2026-01-01T00:00:00.000Z"
  const row = {
    workspace_id: workspaceId,
    type: "backup",
    status: "queued",
    requires_approval: 0,
    trigger_kind: "user",
    attempt: 0,
    spec: "{}",
    evidence: "{}",
    capsule_wait: 1,
    created_at: at,
    queued_at: at
  }
  for (let n = 0; n < count; n++)
    yield* sql`INSERT INTO runs ${sql.insert({ ...row, id: `run_filler${(fillers += 1)}` })}`
  yield* Effect.addFinalizer(() => Effect.orDie(emptied))
})

const emptied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM runs WHERE id LIKE 'run_filler%'`
})

const counted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = ["runs", "audit_events", "install_plans", "revision_plans", "run_groups", "idempotency_receipts"]
  return yield* Effect.forEach(tables, (table) =>
    Effect.map(sql<{ count: number }>`SELECT COUNT(*) AS count FROM ${sql(table)}`, ([row]) => `${table} ${row?.count}`)
  )
})

const deferredActions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ action: string; data: string }>`SELECT action, data FROM audit_events
    WHERE action LIKE '%deferred' ORDER BY created_at, id`
  return rows.map(({ action }) => action)
})

tests.live("a webhook that arrives while the queue is full is not lost: svc syncs its lane once there is room", () =>
  Effect.gen(function* () {
    const { context, url, workspaceId } = yield* TestPlane
    const sources = yield* Sources
    const schedule = yield* SourceSchedule
    const { hookSecret, source } = yield* sources.create(context, {
      workspaceId,
      name: "hooked",
      url,
      autoSync: true
    })
    const deliver = (deliveryId: string) =>
      sources.hook(source.id, {
        proofs: { secrets: [hookSecret] },
        body: Stream.make(new TextEncoder().encode("{}")),
        deliveryId
      })
    const syncs = Effect.map(
      (yield* Runs).list(workspaceId, { sourceId: source.id, includeLooks: true }, { limit: 10 }),
      ({ items }) => items
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        // One place in ten is reserved for people's requests.
        yield* filled(limit - 1)
        expect(yield* deliver("first")).toEqual({ runIds: [] })
        expect(yield* deliver("second")).toEqual({ runIds: [] })
        yield* schedule.syncDue
        expect(yield* syncs).toEqual([])
        expect(yield* deferredActions).toEqual(["source.sync_deferred"])
        const asked = yield* sources.sync(context, source.id, { intent: "manual_plan" })
        yield* settled(asked.id)
      })
    )
    yield* schedule.syncDue
    const [caughtUp, ...before] = yield* syncs
    expect([caughtUp?.trigger, before.length]).toEqual(["webhook", 1])
    yield* settled(caughtUp?.id ?? (yield* Effect.die("no sync")))
    // Once.
    yield* schedule.syncDue
    expect(yield* syncs).toHaveLength(2)
    expect((yield* deliver("third")).runIds).toHaveLength(1)
  })
)

tests.live("a Source is not created if the queue has no room for its first sync", () =>
  Effect.gen(function* () {
    const { context, url, workspaceId } = yield* TestPlane
    const sources = yield* Sources
    yield* filled(limit)
    const firstSync = { onFailure: "keep" } as const
    const refused = yield* Effect.flip(sources.create(context, { workspaceId, name: "no room", url, firstSync }))
    expect(refused.code).toBe("rate_limited")
    const { items } = yield* sources.list(workspaceId, { limit: 100 })
    expect(items.map(({ name }) => name)).not.toContain("no room")
  })
)

describe.skipIf(Bun.which("terraform") === null)("Full queues", () => {
  tests.live(
    "a full queue returns 429 with the remedy and a retry time, and writes nothing",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const sources = yield* Sources
        const installs = yield* InstallPlans
        const { capsule } = yield* active("full", greeting("one"))
        const request = yield* requestOf("full")
        const another = { ...request, capsule: { ...request.capsule, name: "another" } }
        const key = freshKey()
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            yield* filled(limit)
            const counts = yield* counted
            const refusals = yield* Effect.forEach(
              [
                Effect.asVoid(capsuleCommands.Plan(capsule.id, { context, idempotency: key })),
                Effect.asVoid(capsuleCommands.DestroyPlan(capsule.id, { context })),
                Effect.asVoid(capsuleCommands.DriftCheck(capsule.id, { context })),
                Effect.asVoid(capsules.driftCheckAll(context, workspaceId)),
                Effect.asVoid(capsules.backup(context, workspaceId, capsule.id)),
                Effect.asVoid(sources.sync(context, capsule.sourceId, {})),
                Effect.asVoid(installs.create(context, workspaceId, another, freshKey())),
                Effect.asVoid((yield* RevisionPlans).create(context, capsule.id, { ref: "full" }, freshKey()))
              ],
              Effect.flip
            )
            for (const { code, message, retryAfter } of refusals) {
              expect([code, errorStatuses[code], retryAfter], message).toEqual(["rate_limited", 429, 30])
              expect(message).toContain("Nothing was started")
            }
            expect(yield* counted).toEqual(counts)
            return counts
          })
        )
        expect(before).toHaveLength(6)
        // The rejected request has not consumed the key.
        const { replayed, value } = yield* capsuleCommands.Plan(capsule.id, { context, idempotency: key })
        expect(replayed).toBe(false)
        yield* settled(value.id)
      }),
    120_000
  )

  tests.live(
    "a full queue defers the plan of a followed lane, reports the delay once, and starts the plan when there is room",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const capsules = yield* CapsuleCommands
        const sources = yield* Sources
        const follows = yield* DeferredFollows
        const { capsule } = yield* active("deferred", greeting("one"))
        yield* capsules.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: false } })
        yield* commit("deferred", greeting("two"))
        const plans = Effect.map(
          sql<{ id: RunId }>`SELECT id FROM runs WHERE capsule_id = ${capsule.id} AND trigger_kind = 'auto_update'`,
          (rows) => rows.map(({ id }) => id)
        )
        const told = Effect.map(deferredActions, (actions) =>
          actions.filter((action) => action === "capsule.auto_update_deferred")
        )
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* filled(limit - 1)
            yield* settled((yield* sources.sync(context, capsule.sourceId, {})).id)
            yield* eventually(told, (actions) => actions.length === 1)
            yield* follows.followAll
            expect(yield* plans).toEqual([])
            expect(yield* told).toHaveLength(1)
          })
        )
        yield* follows.followAll
        const [plan, ...more] = yield* plans
        expect(more).toEqual([])
        expect((yield* settled(plan ?? (yield* Effect.die("no plan")))).status).toBe("waiting_approval")
        yield* follows.followAll
        expect(yield* plans).toHaveLength(1)
        expect((yield* (yield* Runs).list(workspaceId, { status: ["queued"] }, { limit: 10 })).items).toEqual([])
      }),
    120_000
  )
})
