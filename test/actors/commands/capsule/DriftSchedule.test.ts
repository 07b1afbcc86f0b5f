import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DriftSchedule } from "../../../../actors/commands/capsule/DriftSchedule.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, eventOf, planned, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const files = { "main.tf": `resource "terraform_data" "a" {}` }
const hour = 3_600_000
const long = "2020-01-01T00:00:00.000Z"

const turn = Effect.flatMap(DriftSchedule, ({ checkDue }) => checkDue)

const nextOf = (id: CapsuleId) =>
  Effect.gen(function* () {
    const { nextAt } = (yield* (yield* Capsules).read(id)).driftChecks
    return nextAt === undefined ? undefined : Date.parse(nextAt)
  })

/** Moves the due time into the past, as if the interval had elapsed. */
const elapse = (id: CapsuleId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE capsules SET drift_check_due_at = ${long} WHERE id = ${id}`)

const checksOf = Effect.fnUntraced(function* (id: CapsuleId) {
  const { workspaceId } = yield* TestPlane
  const { items } = yield* (yield* Runs).list(workspaceId, { capsuleId: id, type: ["drift_check"] }, { limit: 10 })
  return items
})

describe.skipIf(Bun.which("terraform") === null)("Scheduled drift checks", () => {
  tests.live(
    "drift checks run at the Capsule's or Workspace's interval with random offsets, but not while automation is paused",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const subject = context.actor.subject ?? ""
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const workspaces = yield* Workspaces
        const { capsule: own } = yield* active("drift-own", files)
        const { capsule: inheriting } = yield* active("drift-inheriting", files)
        const { capsuleId: unapplied } = yield* planned("drift-unapplied", files)

        // Drift checks are off by default.
        expect([own.driftChecks, (yield* workspaces.read(subject, workspaceId)).driftChecks]).toEqual([
          { mode: "inherit" },
          { mode: "off" }
        ])
        yield* turn
        expect(yield* nextOf(own.id)).toBeUndefined()

        // The first check is due at a random point within the interval.
        yield* capsuleCommands.Update(own.id, { context, driftChecks: { mode: "every", hours: 2 } })
        const before = Date.now()
        yield* turn
        const first = yield* nextOf(own.id)
        expect(first).toBeGreaterThanOrEqual(before)
        expect(first).toBeLessThanOrEqual(Date.now() + 2 * hour)
        expect(yield* nextOf(inheriting.id)).toBeUndefined()
        yield* turn
        expect(yield* nextOf(own.id)).toBe(first)
        expect(yield* checksOf(own.id)).toEqual([])

        // A due check runs once, with the authority of the person who enabled the checks. The next check is due one interval
        // later.
        yield* elapse(own.id)
        yield* turn
        yield* turn
        const checks = yield* checksOf(own.id)
        expect(checks.map(({ createdBy, trigger }) => [trigger, createdBy])).toEqual([["schedule", subject]])
        for (const { id } of checks) expect((yield* settled(id)).status).toBe("succeeded")
        expect(yield* nextOf(own.id)).toBeGreaterThanOrEqual(before + 2 * hour)
        expect((yield* capsules.read(own.id)).driftStatus).toBe("none")

        // A check that yields to another Run is retried early, before a whole interval has elapsed.
        yield* elapse(own.id)
        yield* turn
        const [yielding = yield* Effect.die("no check")] = yield* checksOf(own.id)
        yield* eventOf(yielding.id, "run.started")
        yield* replanned(own.id)
        expect((yield* settled(yielding.id)).status).toBe("cancelled")
        expect(yield* nextOf(own.id)).toBeGreaterThan(before)
        expect(yield* nextOf(own.id)).toBeLessThan(Date.now() + hour)

        // The Workspace's interval applies to deployed Capsules without their own setting.
        yield* workspaces.update(context, subject, workspaceId, { driftChecks: { mode: "every", hours: 24 } })
        yield* turn
        expect(yield* nextOf(inheriting.id)).toBeGreaterThan(0)
        expect(yield* nextOf(unapplied)).toBeUndefined()
        yield* capsuleCommands.Update(own.id, { context, driftChecks: { mode: "off" } })
        yield* turn
        expect(yield* nextOf(own.id)).toBeUndefined()

        // While automation is paused, no check starts; overdue checks run afterwards.
        yield* workspaces.setAutomation(context, subject, workspaceId, { paused: true })
        yield* elapse(inheriting.id)
        yield* turn
        expect(yield* checksOf(inheriting.id)).toEqual([])
        yield* workspaces.setAutomation(context, subject, workspaceId, { paused: false })
        yield* turn
        const [made] = yield* checksOf(inheriting.id)
        expect(made?.trigger).toBe("schedule")

        // A shorter interval takes effect before the longer interval elapses.
        const sql = yield* SqlClient.SqlClient
        const far = new Date(Date.now() + 1000 * hour).toISOString()
        yield* sql`UPDATE capsules SET drift_check_due_at = ${far} WHERE id = ${inheriting.id}`
        yield* turn
        expect(yield* nextOf(inheriting.id)).toBeLessThanOrEqual(Date.now() + 24 * hour)
      }),
    120_000
  )

  tests.live(
    "a Capsule with a defect does not delay the drift checks of the others, and is checked again one interval later",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const commands = yield* CapsuleCommands
        const { capsule: broken } = yield* active("drift-broken", files)
        const { capsule: sound } = yield* active("drift-sound", files)
        for (const { id } of [broken, sound]) {
          yield* commands.Update(id, { context, driftChecks: { mode: "every", hours: 2 } })
        }
        yield* turn
        yield* elapse(broken.id)
        yield* elapse(sound.id)
        const before = Date.now()
        const poisoned: typeof commands = {
          ...commands,
          DriftCheck: (id, request) =>
            id === broken.id ? Effect.die(new Error("broken")) : commands.DriftCheck(id, request)
        }
        yield* turn.pipe(
          Effect.provide(Layer.fresh(DriftSchedule.layer)),
          Effect.provideService(CapsuleCommands, poisoned)
        )
        expect(yield* checksOf(sound.id)).toHaveLength(1)
        expect(yield* checksOf(broken.id)).toEqual([])
        expect(yield* nextOf(broken.id)).toBeGreaterThanOrEqual(before + 2 * hour)
      }),
    120_000
  )
})
