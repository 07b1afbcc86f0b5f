import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DriftSchedule } from "../../../../actors/commands/capsule/DriftSchedule.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, settled } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)
const points = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)

/** Makes a drift check of the Capsule due and returns the Capsule's scheduled checks. */
const checked = Effect.fnUntraced(function* (id: CapsuleId) {
  const { workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const schedule = yield* DriftSchedule
  yield* schedule.checkDue
  yield* sql`UPDATE capsules SET drift_check_due_at = '2020-01-01T00:00:00.000Z' WHERE id = ${id}`
  yield* schedule.checkDue
  const { items } = yield* (yield* Runs).list(workspaceId, { capsuleId: id, type: ["drift_check"] }, { limit: 10 })
  return yield* Effect.forEach(items, (run) => settled(run.id))
})

/** Returns a Capsule with a drift check every two hours, and a command that turns its checks off. */
const checkedCapsule = Effect.fnUntraced(function* (branch: string) {
  const { context } = yield* TestPlane
  const capsules = yield* CapsuleCommands
  const { capsule } = yield* active(branch, pureModule)
  yield* capsules.Update(capsule.id, { context, driftChecks: { mode: "every", hours: 2 } })
  return { id: capsule.id, off: Effect.orDie(capsules.Update(capsule.id, { context, driftChecks: { mode: "off" } })) }
})

tests.live("a scheduled drift check does not run if drift checks are turned off while it is queued", () =>
  Effect.gen(function* () {
    const { id, off } = yield* checkedCapsule("drift-queued")
    points.at.set("drift_check.claimed", Effect.asVoid(off))
    expect((yield* checked(id)).map(({ status }) => status)).toEqual(["cancelled"])
    expect((yield* (yield* Capsules).read(id)).driftCheckedAt).toBeUndefined()
  })
)
