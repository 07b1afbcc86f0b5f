import { afterAll, expect } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { KillPoint } from "../../../../actors/base/KillPoint.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

const armed = { isArmed: false }
const begun = Deferred.makeUnsafe<void>()
const goOn = Deferred.makeUnsafe<void>()
let claims = 0

/** Pauses the first execution of a drift check. */
const halting = Layer.succeed(KillPoint, (name) => {
  if (!armed.isArmed || name !== "drift_check.claimed") return Effect.void
  claims += 1
  return claims > 1 ? Effect.void : Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn))
})

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provide(halting)))
afterAll(tests.dispose)

tests.live("a Run that starts again waits for its earlier execution, but no other Run does", () =>
  Effect.gen(function* () {
    const { context } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const ledger = yield* RunLedger
    const lifecycle = yield* RunLifecycle
    const capsules = yield* CapsuleCommands
    const slow = yield* active("slow", pureModule)
    const other = yield* active("other", pureModule)
    armed.isArmed = true
    const check = yield* capsules.DriftCheck(slow.capsule.id, { context })
    yield* Deferred.await(begun)
    const own = (yield* ledger.find(check.id)) ?? (yield* Effect.die("no Run"))
    yield* transaction(sql)(lifecycle.requeue(holdOf(own), "It starts again.", { counts: false }))
    yield* (yield* RunQueue).wake
    yield* eventually(ledger.find(check.id), (run) => run?.status === "running" && run.fence > own.fence)
    const next = yield* capsules.DriftCheck(other.capsule.id, { context })
    expect((yield* settled(next.id)).status).toBe("succeeded")
    // The Run that started again has not been executed a second time yet.
    expect([claims, (yield* ledger.find(check.id))?.status]).toEqual([2, "running"])
    yield* Deferred.succeed(goOn, undefined)
    expect((yield* settled(check.id)).status).toBe("succeeded")
  })
)
