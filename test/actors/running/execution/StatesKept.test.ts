import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { ModuleRunner } from "../../../../runner/execution/ModuleRunner.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, replanned } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

/** A runner whose applies report their state at the last possible moment. */
const handingOver = Layer.effect(
  ModuleRunner,
  Effect.map(ModuleRunner, (runner) =>
    ModuleRunner.of({
      ...runner,
      apply: (job, control) =>
        Effect.tap(runner.apply(job, control), ({ resourceCount = 0, serial = 0, state }) =>
          state === undefined ? Effect.void : control.sink.checkpoint({ state, serial, resourceCount })
        )
    })
  )
)

const tests = suite(testPlane({ runner: Layer.provideMerge(handingOver, pureRunner(pureModules())) }))
afterAll(tests.dispose)

tests.live("the last state of an apply is stored until the Run ends, but no longer", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { capsule } = yield* active("handed", pureModule)
    const apply = yield* applied(yield* replanned(capsule.id))
    expect(apply.status).toBe("succeeded")
    const { items } = yield* (yield* RunStreams).events(apply.id, 0, 1000)
    expect(items.slice(-2).map(({ data, kind }) => ({ kind, data }))).toMatchObject([
      { kind: "state.saved", data: { serial: 2, resourceCount: 1, final: false } },
      { kind: "run.succeeded" }
    ])
    expect(yield* sql`SELECT 1 AS one FROM run_checkpoints`).toEqual([])
  })
)
