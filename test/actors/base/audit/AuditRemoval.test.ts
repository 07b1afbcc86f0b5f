import { expect } from "bun:test"
import { Cause, Duration, Effect, Exit, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { exportChain } from "../../../../actors/base/audit/AuditExport.ts"
import { headOf } from "../../../../actors/base/audit/AuditHeads.ts"
import { AuditKeys } from "../../../../actors/base/audit/AuditLink.ts"
import { AuditRemoval, AuditRetention } from "../../../../actors/base/audit/AuditRemoval.ts"
import { verifyAudit } from "../../../../actors/base/audit/AuditVerification.ts"
import { KillPoint, type KillPointName } from "../../../../actors/base/KillPoint.ts"
import { testFoundation } from "../../../support/Actors.ts"
import { it } from "../../../support/Effect.ts"
import { namedWorkspace } from "../../../support/NamedIds.ts"

const workspace = namedWorkspace("a")
const quiet = namedWorkspace("b")

const append = (id: string, workspaceId = workspace) =>
  Effect.flatMap(Audit, (audit) =>
    audit.append({
      workspaceId,
      actor: { kind: "service" },
      action: "thing.note",
      target: { kind: "thing", id }
    })
  )

const many = (prefix: string, count: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.forEach(Array.from({ length: count }).keys(), (n) => append(`${prefix}${n}`)))
  )

const verify = (head?: Effect.Success<typeof headNow>) =>
  Effect.flatMap(AuditKeys, (key) =>
    verifyAudit(key, head === undefined ? undefined : { head, installationId: undefined })
  )
const headNow = Effect.flatMap(AuditKeys, (key) => headOf(key, undefined, undefined))

const kept = (days: number | undefined) =>
  AuditRemoval.layer.pipe(
    Layer.provide(Layer.succeed(AuditRetention, days === undefined ? undefined : Duration.days(days))),
    Layer.provideMerge(testFoundation)
  )

/**
 * Sets the clock back. Sleeping fibers wake only after the test's start time, so setting the clock to the present again does
 * not wake them.
 */
const daysAgo = (days: number) => TestClock.setTime(-Duration.toMillis(Duration.days(days)))
const now = TestClock.setTime(0)

/** Advances the clock while the effect runs, so that the pauses between steps elapse. */
const patiently = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(effect, Effect.forever(Effect.andThen(Effect.yieldNow, TestClock.adjust("5 millis"))))

it.effect("audit events are kept forever unless the operator configures otherwise", () =>
  Effect.gen(function* () {
    yield* daysAgo(400)
    yield* append("old")
    yield* now
    const removal = yield* AuditRemoval
    expect(yield* removal.survey).toEqual([])
    expect(yield* removal.removeAll).toEqual([])
    yield* removal.removeSome
    expect((yield* verify()).chains).toEqual([
      { workspaceId: null, position: 0, prunedPosition: 0 },
      { workspaceId: workspace, position: 1, prunedPosition: 0 }
    ])
  }).pipe(Effect.provide(kept(undefined)))
)

it.effect(
  "retention removes audit events from the start of their chain in recorded steps, and the remaining events still verify",
  () =>
    Effect.gen(function* () {
      const removal = yield* AuditRemoval
      yield* daysAgo(40)
      yield* many("old", 450)
      yield* append("quiet", quiet)
      const before = yield* headNow
      yield* now
      yield* many("young", 3)
      const later = yield* headNow
      const expected = [
        { workspaceId: workspace, events: 450 },
        { workspaceId: quiet, events: 1 }
      ]
      expect(yield* removal.survey).toEqual(expected)
      expect(yield* patiently(removal.removeAll)).toEqual(expected)
      expect(yield* removal.survey).toEqual([])
      expect(yield* verify()).toEqual({
        faults: [],
        chains: [
          { workspaceId: null, position: 0, prunedPosition: 0 },
          { workspaceId: workspace, position: 456, prunedPosition: 450 },
          { workspaceId: quiet, position: 2, prunedPosition: 1 }
        ]
      })
      // Both chain heads still verify: the head recorded before the removed events, and the head recorded after them.
      expect((yield* verify(before)).faults).toEqual([])
      expect((yield* verify(later)).faults).toEqual([])
      expect((yield* headNow).chains[1]).toMatchObject({ position: 456, count: 6 })
      const lines = yield* Stream.runCollect(exportChain(workspace, {}, 0))
      const events = [...lines].map((line) => JSON.parse(line))
      expect(events.map(({ action, position }) => [position, action])).toEqual([
        [451, "thing.note"],
        [452, "thing.note"],
        [453, "thing.note"],
        [454, "audit_event.remove"],
        [455, "audit_event.remove"],
        [456, "audit_event.remove"]
      ])
      expect(events.slice(3).map(({ data }) => [data.events, data.lastPosition])).toEqual([
        [200, 200],
        [200, 400],
        [50, 450]
      ])
      // If even one more event is deleted than the retention recorded, the check reports tampering.
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM audit_events WHERE position = 451`
      expect((yield* verify()).faults).toMatchObject([{ workspaceId: workspace, position: 451 }])
    }).pipe(Effect.provide(kept(30)))
)

it.effect(
  "a recent audit event prevents the removal of all later events in its chain, regardless of their timestamps",
  () =>
    Effect.gen(function* () {
      const removal = yield* AuditRemoval
      yield* daysAgo(41)
      yield* append("young")
      yield* daysAgo(141)
      yield* append("older by its clock")
      yield* daysAgo(40)
      expect(yield* removal.survey).toEqual([])
      yield* patiently(removal.removeSome)
      expect((yield* verify()).chains[1]).toMatchObject({ position: 2, prunedPosition: 0 })
      yield* now
      yield* patiently(removal.removeSome)
      expect((yield* verify()).chains[1]).toMatchObject({ position: 3, prunedPosition: 2 })
    }).pipe(Effect.provide(kept(30)))
)

it.effect(
  "an audit removal that is killed between any two steps leaves a valid chain, and removes no event twice",
  () => {
    /** Number of kill points that the process passes before it is killed. */
    let survived = 0
    const passed = new Set<KillPointName>()
    const mortal = Layer.succeed(KillPoint, (name) =>
      Effect.suspend(() => {
        passed.add(name)
        survived -= 1
        return survived < 0 ? Effect.die("killed") : Effect.void
      })
    )
    return Effect.gen(function* () {
      yield* daysAgo(40)
      yield* many("old", 450)
      const head = yield* headNow
      yield* now
      const removal = yield* AuditRemoval
      let deaths = 0
      for (let isDone = false; !isDone; ) {
        survived = deaths % 3
        const exit = yield* Effect.exit(patiently(removal.removeAll))
        isDone = Exit.isSuccess(exit)
        if (Exit.isFailure(exit)) {
          expect(Cause.squash(exit.cause)).toBe("killed")
          deaths += 1
        }
        expect((yield* verify(head)).faults).toEqual([])
        expect(deaths).toBeLessThan(50)
      }
      expect(deaths).toBeGreaterThan(3)
      expect([...passed].toSorted()).toEqual(["audit_removal.deleted", "audit_removal.removed"])
      const lines = yield* Stream.runCollect(exportChain(workspace, {}, 0))
      const removed = [...lines].map((line) => JSON.parse(line)).filter(({ action }) => action === "audit_event.remove")
      expect(removed.map(({ data }) => data.events)).toEqual([200, 200, 50])
    }).pipe(Effect.provide(kept(30).pipe(Layer.provide(mortal))))
  }
)
