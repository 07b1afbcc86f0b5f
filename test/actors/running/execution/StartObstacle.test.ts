import { afterAll, afterEach, expect, setDefaultTimeout } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { applying, planned, settled } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { startObstacles, withoutObstacles } from "../../support/StartObstacles.ts"

setDefaultTimeout(60_000)
const points = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)
afterEach(() => tests.runPromise(withoutObstacles))

for (const [name, { code, happens, ...expected }] of Object.entries(startObstacles)) {
  tests.live(`the tool of an apply does not start if ${name} after the apply was prepared`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { capsuleId, plan } = yield* planned(`prepared-${crypto.randomUUID()}`, pureModule)
      const isPrepared = yield* Deferred.make<void>()
      const goesOn = yield* Deferred.make<void>()
      points.at.set("apply.prepared", Effect.andThen(Deferred.succeed(isPrepared, undefined), Deferred.await(goesOn)))
      const apply = yield* applying(plan)
      yield* Deferred.await(isPrepared)
      yield* happens({ capsuleId, runId: apply.id })
      yield* Deferred.succeed(goesOn, undefined)
      const run = yield* settled(apply.id)
      expect({ status: run.status, code: run.error?.code }).toEqual({
        status: "status" in expected ? expected.status : "failed",
        code
      })
      expect(yield* sql`SELECT provider_apply_succeeded FROM runs WHERE id = ${run.id}`).toEqual([
        { provider_apply_succeeded: null }
      ])
      expect((yield* (yield* Runs).read(run.id)).stateVersionId).toBeUndefined()
      expect(yield* sql`SELECT runtime_safety, current_state_version_id FROM capsules WHERE id = ${capsuleId}`).toEqual(
        [{ runtime_safety: "safe", current_state_version_id: null }]
      )
      expect(yield* sql`SELECT run_id FROM run_plans WHERE run_id = ${plan.id}`).toEqual([])
    })
  )
}
