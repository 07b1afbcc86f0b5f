import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { CapsuleId, RunGroupId } from "../../../../schema/records/Ids.ts"
import type { RunGroup } from "../../../../schema/records/RunGroup.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, applied, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { newCommit, pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(60_000)

const modules = pureModules()
const tests = suite(testPlane({ runner: pureRunner(modules) }))
afterAll(tests.dispose)
beforeEach(() => {
  modules.faults.clear()
  modules.constant.clear()
  modules.secretValues.clear()
})

const capsuleNamed = (name: string) => Effect.map(active(name, pureModule), ({ capsule }) => capsule)

const flow = Effect.fnUntraced(function* (from: CapsuleId, to: CapsuleId, input: "a" | "b" = "a") {
  const { context } = yield* TestPlane
  return yield* (yield* Dependencies).create(context, to, {
    producerCapsuleId: from,
    mode: "published_output",
    outputs: [{ from: "value", to: input, required: true }]
  })
})

const renewed = Effect.fnUntraced(function* (id: CapsuleId) {
  expect((yield* applied(yield* replanned(id))).status).toBe("succeeded")
})

/**
 * Creates a chain of Capsules that are all up to date. Each Capsule except the first consumes an Output of its predecessor.
 */
const chain = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const ids: Array<CapsuleId> = []
  for (const name of names) {
    const { id } = yield* capsuleNamed(name)
    const before = ids.at(-1)
    if (before !== undefined) {
      yield* flow(before, id)
      yield* renewed(id)
    }
    ids.push(id)
  }
  return ids
})

const groupWhen = Effect.fnUntraced(function* (id: RunGroupId, wanted: (group: RunGroup) => boolean) {
  const runs = yield* Runs
  return yield* eventually(
    Effect.map(runs.group(id), ({ runGroup }) => runGroup),
    wanted
  )
})

const membersOf = (group: RunGroup) => (group.waves ?? []).flatMap(({ capsules }) => capsules)
const statesOf = (group: RunGroup) => Object.fromEntries(membersOf(group).map(({ name, state }) => [name, state]))
const memberOf = (group: RunGroup, name: string) => membersOf(group).find((member) => member.name === name)
const when = (id: RunGroupId, states: Readonly<Record<string, string>>) =>
  groupWhen(id, (group) => {
    const now = statesOf(group)
    return Object.entries(states).every(([name, state]) => now[name] === state)
  })

const update = Effect.gen(function* () {
  const { context, workspaceId } = yield* TestPlane
  return yield* (yield* Capsules).planUpdate(context, workspaceId)
})

/** Reviews, approves and applies the plan for a Capsule in a group. */
const appliedIn = Effect.fnUntraced(function* (id: RunGroupId, name: string) {
  const planRunId = memberOf(yield* when(id, { [name]: "waiting_approval" }), name)?.planRunId
  const plan = planRunId === undefined ? yield* Effect.die("no plan") : yield* settled(planRunId)
  return yield* applied(plan)
})

describe("Workspace updates", () => {
  tests.live(
    "an update plans a consumer with the new Output after its producer's apply, and skips unchanged Capsules",
    () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const capsules = yield* Capsules
        const [first, middle, last] = yield* chain("one", "two", "three")
        if (first === undefined || middle === undefined || last === undefined) return yield* Effect.die("no chain")
        yield* newCommit(first)
        const { runGroup, runs: started } = yield* update
        expect(started.map(({ capsuleId }) => capsuleId)).toEqual([first])
        expect(runGroup.waves?.map(({ capsules: each, wave }) => [wave, each.map(({ name }) => name)])).toEqual([
          [1, ["one"]],
          [2, ["two"]],
          [3, ["three"]]
        ])
        expect(memberOf(runGroup, "two")).toMatchObject({
          state: "waiting",
          waitsFor: [{ capsuleId: first, name: "one" }]
        })
        expect((yield* when(runGroup.id, { one: "waiting_approval" })).status).toBe("waiting_approval")
        expect((yield* appliedIn(runGroup.id, "one")).status).toBe("succeeded")

        // The next wave starts automatically. After this point, the Outputs of `two` no longer depend on any new value.
        modules.constant.add(middle)
        const valueOf = Effect.map(capsules.outputs(middle), (all) => all.find(({ name }) => name === "value")?.value)
        const old = yield* valueOf
        const second = yield* appliedIn(runGroup.id, "two")
        expect(second.status).toBe("succeeded")
        expect(yield* valueOf).not.toEqual(old)
        yield* appliedIn(runGroup.id, "three")
        const done = yield* groupWhen(runGroup.id, ({ status }) => status === "succeeded")
        expect(done.finishedAt).toBeDefined()
        for (const id of [first, middle, last]) {
          expect((yield* capsules.read(id)).status).toBe("active")
        }

        // Plans the update again without any change.
        yield* newCommit(first)
        const again = (yield* update).runGroup.id
        yield* appliedIn(again, "one")
        yield* appliedIn(again, "two")
        const over = yield* groupWhen(again, ({ status }) => status === "succeeded")
        expect(memberOf(over, "three")).toMatchObject({ state: "left_out", reason: { code: "inputs_unchanged" } })
        expect((yield* runs.group(again)).runs.some(({ capsuleId }) => capsuleId === last)).toBe(false)
      })
  )
})

let made: { readonly one: CapsuleId; readonly two: CapsuleId; readonly alone: CapsuleId } | undefined

const named = (name: string) => `trio-${name}`

/** `two` consumes `one`, and `alone` consumes nothing; each has a newer commit. */
const trio = Effect.gen(function* () {
  if (made === undefined) {
    const [one, two] = yield* chain(named("one"), named("two"))
    const { id: alone } = yield* capsuleNamed(named("alone"))
    if (one === undefined || two === undefined) return yield* Effect.die("no chain")
    made = { one, two, alone }
  }
  for (const id of [made.one, made.two, made.alone]) yield* newCommit(id)
  return made
})

describe("Interrupted updates", () => {
  tests.live(
    "an update shows a failed member, continues with the others, and resumes after the member is planned again",
    () =>
      Effect.gen(function* () {
        const { alone, one } = yield* trio
        modules.faults.set(one, "plan_fails")
        const { id } = (yield* update).runGroup
        const failed = yield* when(id, { [named("one")]: "failed", [named("alone")]: "waiting_approval" })
        expect(memberOf(failed, named("two"))).toMatchObject({
          state: "waiting",
          waitsFor: [{ capsuleId: one, name: named("one"), state: "failed" }]
        })
        expect(memberOf(failed, named("one"))?.reason?.code).toBe("plan_failed")
        expect((yield* appliedIn(id, named("alone"))).status).toBe("succeeded")
        const stopped = yield* groupWhen(id, ({ status }) => status === "failed")
        expect(memberOf(stopped, named("alone"))?.state).toBe("applied")
        expect(stopped).not.toHaveProperty("finishedAt")

        // The apply fails again, and then a person repairs the Capsule.
        modules.faults.set(one, "apply_fails_late")
        yield* replanned(one)
        expect((yield* appliedIn(id, named("one"))).status).toBe("failed")
        yield* when(id, { [named("one")]: "failed", [named("two")]: "waiting" })
        expect((yield* (yield* Capsules).read(one)).status).toBe("error")
        yield* renewed(one)
        yield* appliedIn(id, named("two"))
        yield* groupWhen(id, ({ status }) => status === "succeeded")
        expect((yield* (yield* Capsules).read(alone)).status).toBe("active")
      })
  )

  tests.live("an update replans a waiting plan whose input has changed, and cancelling ends the update", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const { one, two } = yield* trio
      const { id } = (yield* update).runGroup
      yield* appliedIn(id, named("one"))
      const first = memberOf(yield* when(id, { [named("two")]: "waiting_approval" }), named("two"))?.planRunId
      yield* newCommit(one)
      yield* renewed(one)
      const second = yield* groupWhen(id, (group) => {
        const member = memberOf(group, named("two"))
        return member?.state === "waiting_approval" && member.planRunId !== first
      })
      expect(first === undefined ? "" : (yield* runs.read(first)).status).toBe("superseded")

      const approvedId = memberOf(second, named("two"))?.planRunId ?? (yield* Effect.die("no plan"))
      yield* runCommands.Approve(approvedId, { context })
      yield* when(id, { [named("two")]: "approved" })
      yield* runs.cancelGroup(context, id, "not today")
      const over = yield* groupWhen(id, ({ finishedAt }) => finishedAt !== undefined)
      expect(over).toMatchObject({ status: "cancelled", cancelReason: "not today" })
      // The update has been cancelled, so planning the Capsule again does not continue the update.
      expect(memberOf(over, named("two"))?.reason).toEqual({ code: "cancelled", message: "not today" })
      expect((yield* Effect.flip(runs.apply(context, approvedId, undefined))).code).toBe("failed_precondition")
      expect((yield* runs.read(approvedId)).status).toBe("superseded")
      expect((yield* Effect.flip(runs.cancelGroup(context, id, undefined))).code).toBe("failed_precondition")
      expect((yield* (yield* Capsules).read(two)).status).toBe("stale")

      // A newer update replaces an open update.
      const older = (yield* (yield* Capsules).planUpdate(context, workspaceId)).runGroup.id
      const newer = (yield* (yield* Capsules).planUpdate(context, workspaceId)).runGroup.id
      expect(yield* groupWhen(older, ({ finishedAt }) => finishedAt !== undefined)).toMatchObject({
        status: "cancelled",
        replacedBy: newer
      })
      // A single transaction cancels the old update and creates the new one. Otherwise, a crash could leave two updates that
      // keep planning the same Capsules in turn.
      const sql = yield* SqlClient.SqlClient
      const [ended] = yield* sql<{ cancelled_at: string }>`SELECT cancelled_at FROM run_groups WHERE id = ${older}`
      expect(ended?.cancelled_at).toBe((yield* runs.group(newer)).runGroup.createdAt)

      // An update that no Capsule accepts does not replace an open update.
      yield* sql`UPDATE capsules SET tracked_ref = tracked_ref || '-gone' WHERE workspace_id = ${workspaceId}`
      const refused = (yield* Capsules).planUpdate(context, workspaceId)
      expect((yield* Effect.flip(refused)).code).toBe("failed_precondition")
      expect((yield* runs.group(newer)).runGroup).not.toHaveProperty("replacedBy")
      yield* sql`UPDATE capsules SET tracked_ref = REPLACE(tracked_ref, '-gone', '') WHERE workspace_id = ${workspaceId}`
      yield* runs.cancelGroup(context, newer, undefined)
    })
  )

  tests.live("an update pauses while automation is paused, or while the person who started it may no longer plan", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      yield* trio
      const { id } = (yield* update).runGroup
      yield* when(id, { [named("one")]: "waiting_approval" })
      const at = "2026-01-01T00:00:00.000Z"
      yield* sql`UPDATE workspaces SET automation_paused_at = ${at} WHERE id = ${workspaceId}`
      yield* appliedIn(id, named("one"))
      const held = yield* groupWhen(id, ({ heldReason }) => heldReason !== undefined)
      expect(held.heldReason).toContain("paused")
      expect(memberOf(held, named("two"))).toMatchObject({ state: "waiting" })
      yield* sql`UPDATE workspaces SET automation_paused_at = NULL WHERE id = ${workspaceId}`
      const resumed = yield* when(id, { [named("two")]: "waiting_approval" })
      expect(resumed.heldReason).toBeUndefined()

      const plan = memberOf(resumed, named("two"))?.planRunId ?? (yield* Effect.die("no plan"))
      yield* sql`UPDATE memberships SET role = 'viewer' WHERE workspace_id = ${workspaceId}
        AND subject = ${context.actor.subject ?? ""}`
      const superseded = { status: "superseded" }
      yield* sql`UPDATE runs SET ${sql.update(superseded)} WHERE id = ${plan}`
      expect((yield* groupWhen(id, ({ heldReason }) => heldReason !== undefined)).heldReason).toContain("may not plan")
      yield* sql`UPDATE memberships SET role = 'owner' WHERE workspace_id = ${workspaceId}
        AND subject = ${context.actor.subject ?? ""}`
      yield* (yield* Runs).cancelGroup(context, id, undefined)
    })
  )

  tests.live("an update blocks a consumer whose input has become private, and shows the reason", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { one } = yield* trio
      const { id } = (yield* update).runGroup
      yield* when(id, { [named("one")]: "waiting_approval" })
      modules.secretValues.add(one)
      yield* appliedIn(id, named("one"))
      const blocked = memberOf(yield* when(id, { [named("two")]: "failed" }), named("two"))
      expect(blocked?.reason).toMatchObject({ code: "missing_input" })
      expect(blocked?.reason?.message).toContain("The Output value is private")
      yield* (yield* Runs).cancelGroup(context, id, undefined)
      expect((yield* groupWhen(id, ({ finishedAt }) => finishedAt !== undefined)).status).toBe("cancelled")
    })
  )
})
