import { afterAll, expect } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { KillPoint } from "../../../../actors/base/KillPoint.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { suite } from "../../../support/Effect.ts"
import { active } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const armed = { isArmed: false }
const begun = Deferred.makeUnsafe<void>()
const goOn = Deferred.makeUnsafe<void>()
const over = Deferred.makeUnsafe<void>()

/** Pauses the test's drift check where its tool would start, and reports when its execution has ended. */
const halting = Layer.succeed(KillPoint, (name) => {
  if (!armed.isArmed) return Effect.void
  if (name === "drift_check.claimed") {
    return Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn))
  }
  return name === "drift_check.settled" ? Effect.asVoid(Deferred.succeed(over, undefined)) : Effect.void
})

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provide(halting)))
afterAll(tests.dispose)

tests.live("an execution that has lost its Run writes nothing more and does not affect the Run", () =>
  Effect.gen(function* () {
    const { context } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const ledger = yield* RunLedger
    const lifecycle = yield* RunLifecycle
    const { capsule } = yield* active("taken", pureModule)
    armed.isArmed = true
    const check = yield* (yield* CapsuleCommands).DriftCheck(capsule.id, { context })
    yield* Deferred.await(begun)
    const own = (yield* ledger.find(check.id)) ?? (yield* Effect.die("no Run"))
    const other = yield* Effect.gen(function* () {
      yield* lifecycle.requeue(holdOf(own), "taken away", { counts: true })
      yield* lifecycle.claim(check.id, "inst_other#1")
      return yield* ledger.find(check.id)
    }).pipe(transaction(sql))
    const [capsuleBefore] = yield* sql`SELECT * FROM capsules WHERE id = ${capsule.id}`
    yield* Deferred.succeed(goOn, undefined)
    yield* Deferred.await(over)
    expect(yield* ledger.find(check.id)).toEqual(other)
    expect(yield* sql`SELECT * FROM capsules WHERE id = ${capsule.id}`).toEqual([capsuleBefore ?? {}])
    const events = yield* sql<{ kind: string }>`SELECT kind FROM run_events WHERE run_id = ${check.id} ORDER BY seq`
    expect(events.map(({ kind }) => kind)).toEqual(["run.queued", "run.started", "run.queued", "run.started"])
    expect(yield* sql`SELECT 1 AS one FROM run_log_chunks WHERE run_id = ${check.id}`).toEqual([])
  })
)
