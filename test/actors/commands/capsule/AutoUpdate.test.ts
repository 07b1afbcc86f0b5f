import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DeferredFollows } from "../../../../actors/commands/capsule/DeferredFollows.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import type { CapsuleId, SourceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { nothingDue } from "../../../support/NothingDue.ts"
import { active, applied, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting, greetingsOf } from "../../support/GreetingModule.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

/**
 * Waits until all due work is done. Due work starts after the commit of whoever requested it, and a later command for the
 * same record starts after the due work.
 */
const delivered = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context } = yield* TestPlane
  yield* nothingDue
  yield* (yield* CapsuleCommands).Update(capsuleId, { context })
})

/** Waits for all Runs that the service started automatically for the Capsule, and returns them newest first. */
const followed = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { workspaceId } = yield* TestPlane
  const { items } = yield* (yield* Runs).list(workspaceId, { capsuleId }, { limit: 50 })
  const own = items.filter(({ trigger }) => trigger === "auto_update")
  return yield* Effect.forEach(own, ({ id }) => settled(id))
})

/** Syncs the Source, waits for the plans and applies that follow, and returns the automatic Runs. */
const looked = Effect.fnUntraced(function* ({ id, sourceId }: { readonly id: CapsuleId; readonly sourceId: SourceId }) {
  const { context } = yield* TestPlane
  yield* settled((yield* (yield* Sources).sync(context, sourceId, {})).id)
  yield* delivered(id)
  yield* followed(id)
  yield* delivered(id)
  return yield* followed(id)
})

/** Returns the auto-update decisions about snapshots, newest first. */
const decisions = Effect.fnUntraced(function* (id: CapsuleId) {
  return (yield* (yield* Capsules).autoUpdateDecisions(id, { limit: 20 })).items
})
const last = (id: CapsuleId) => Effect.map(decisions(id), ([first]) => [first?.decision, first?.reason])

/** Rolls the Capsule back to its first state, including review and apply. */
const rolledBack = Effect.fnUntraced(function* (
  capsule: Capsule,
  request: { readonly reason?: string; readonly resumeOnNewCommit?: boolean }
) {
  const { context } = yield* TestPlane
  const { items } = yield* (yield* Capsules).stateVersions(capsule.id, { limit: 50 })
  const first = items.at(-1)
  if (first === undefined) return yield* Effect.die("no state")
  const plan = yield* settled((yield* (yield* Runs).rollbackPlan(context, first.id, request)).id)
  expect((yield* applied(plan)).status).toBe("succeeded")
  return plan
})

describe.skipIf(Bun.which("terraform") === null)("auto-update", () => {
  tests.live(
    "a reviewed rollback holds the Capsule until a person resumes it or, if that was chosen, until a newer commit arrives",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const { capsule } = yield* active("pin", greeting("one"))
        expect(capsule.autoUpdate).toEqual({ enabled: false, apply: false })
        yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: true } })
        yield* commit("pin", greeting("two"))
        expect((yield* looked(capsule)).map(({ type }) => type)).toEqual(["apply", "plan"])
        expect(yield* last(capsule.id)).toEqual(["taken", "applied"])

        const rollback = yield* rolledBack(capsule, { reason: "two breaks the login" })
        expect((yield* capsules.read(capsule.id)).autoUpdate).toMatchObject({
          enabled: true,
          apply: true,
          pinnedBy: {
            runId: rollback.id,
            subject: context.actor.subject,
            reason: "two breaks the login",
            resumeOnNewCommit: false
          }
        })
        // While the Capsule is pinned, auto-update applies neither the commit that was rolled back nor a newer commit.
        expect(yield* looked(capsule)).toHaveLength(2)
        yield* commit("pin", greeting("three"))
        expect(yield* looked(capsule)).toHaveLength(2)
        expect(yield* last(capsule.id)).toEqual(["skipped", "pinned"])
        expect((yield* decisions(capsule.id))[0]?.message).toContain("two breaks the login")
        expect(yield* greetingsOf(capsule.id)).toEqual(["one"])

        // After a person resumes auto-update, it immediately follows the commit at the head of the lane.
        const resumed = yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { resume: true } })
        expect(resumed.autoUpdate).toEqual({ enabled: true, apply: true })
        yield* followed(capsule.id)
        yield* delivered(capsule.id)
        expect((yield* followed(capsule.id))[0]?.type).toBe("apply")
        expect(yield* greetingsOf(capsule.id)).toEqual(["three"])

        yield* rolledBack(capsule, { resumeOnNewCommit: true })
        const { pinnedBy } = (yield* capsules.read(capsule.id)).autoUpdate
        expect([pinnedBy?.reason, pinnedBy?.resumeOnNewCommit]).toEqual([
          "Rolled back to the state of generation 1.",
          true
        ])
        const before = (yield* looked(capsule)).length
        expect(yield* greetingsOf(capsule.id)).toEqual(["one"])
        yield* commit("pin", greeting("four"))
        expect((yield* looked(capsule)).length).toBe(before + 2)
        expect(yield* greetingsOf(capsule.id)).toEqual(["four"])
        expect((yield* capsules.read(capsule.id)).autoUpdate.pinnedBy).toBeUndefined()
      }),
    120_000
  )

  tests.live(
    "auto-update records a decision for each snapshot, and starts nothing while automation is paused",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const workspaces = yield* Workspaces
        const sql = yield* SqlClient.SqlClient
        const subject = context.actor.subject ?? ""
        const automation = (paused: boolean) =>
          workspaces.setAutomation(context, subject, workspaceId, { paused, ...(paused ? { reason: "incident" } : {}) })
        const { capsule } = yield* active("say", greeting("one"))
        yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { enabled: true } })
        expect(yield* looked(capsule)).toEqual([])
        expect(yield* last(capsule.id)).toEqual(["skipped", "already_applied"])
        yield* commit("say", greeting("two"))
        const [plan] = yield* looked(capsule)
        expect(yield* decisions(capsule.id)).toMatchObject([
          { decision: "waiting", reason: "review", runId: plan?.id, resolvedCommit: plan?.resolvedCommit },
          { decision: "skipped", reason: "already_applied" }
        ])

        // While automation is paused, svc records the new commit and marks the Capsule stale, but plans nothing until someone
        // resumes.
        yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { apply: true } })
        yield* automation(true)
        yield* commit("say", greeting("three"))
        expect(yield* looked(capsule)).toHaveLength(1)
        expect((yield* capsules.read(capsule.id)).status).toBe("stale")
        expect(yield* last(capsule.id)).toEqual(["deferred", "automation_paused"])
        const follows = yield* DeferredFollows
        yield* follows.followAll
        expect(yield* followed(capsule.id)).toHaveLength(1)
        yield* automation(false)
        yield* follows.followAll
        yield* followed(capsule.id)
        yield* delivered(capsule.id)
        expect((yield* followed(capsule.id)).map(({ type }) => type)).toEqual(["apply", "plan", "plan"])
        expect(yield* greetingsOf(capsule.id)).toEqual(["three"])

        // If automation is paused during the plan, the plan waits for a person. If it is paused while the apply is queued, the
        // apply is cancelled.
        const pausesAt = (name: string, event: string, condition: string) =>
          createTrigger(
            sql,
            `CREATE TRIGGER ${name} AFTER ${event} ON runs WHEN ${condition}
            BEGIN UPDATE workspaces SET automation_paused_at = '2026-01-01T00:00:00.000Z', automation_paused_by = 'me'; END`
          )
        yield* pausesAt("pauses_plan", "UPDATE OF status", "NEW.status = 'waiting_approval'")
        yield* commit("say", greeting("four"))
        expect((yield* looked(capsule))[0]?.status).toBe("waiting_approval")
        expect(yield* last(capsule.id)).toEqual(["waiting", "automation_paused"])
        yield* dropTrigger(sql, "pauses_plan")
        yield* automation(false)
        yield* pausesAt("pauses_apply", "INSERT", "NEW.type = 'apply'")
        yield* commit("say", greeting("five"))
        const [late] = yield* looked(capsule)
        yield* dropTrigger(sql, "pauses_apply")
        yield* automation(false)
        expect([late?.type, late?.status]).toEqual(["apply", "cancelled"])
        expect(yield* greetingsOf(capsule.id)).toEqual(["three"])

        // A plan that would destroy a resource waits for a person.
        yield* commit("say", { "main.tf": `output "a" { value = "gone" }` })
        yield* looked(capsule)
        expect(yield* last(capsule.id)).toEqual(["waiting", "destroys"])
      }),
    120_000
  )
})
