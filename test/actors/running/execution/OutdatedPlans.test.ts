import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OutdatedPlans } from "../../../../actors/running/execution/OutdatedPlans.ts"
import { RunStreams, Runs } from "../../../../actors/ledger/run/Runs.ts"
import { ToolMissing } from "../../../../runner/toolchain/ToolErrors.ts"
import { Toolchain } from "../../../../runner/toolchain/Toolchain.ts"
import { suite } from "../../../support/Effect.ts"
import { planned } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { withMember } from "../../../support/Dialect.ts"

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

const supersede = Effect.flatMap(OutdatedPlans, (plans) => plans.supersede).pipe(
  Effect.provide(Layer.fresh(OutdatedPlans.layer))
)

const madeWithAnother = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(
    sql`UPDATE runs SET evidence = ${withMember(sql, "evidence", "$.tool.version", "0.0.1")} WHERE id = ${runId}`
  )
})

tests.live("svc supersedes plans that another tool created before anyone can approve or apply them", () =>
  Effect.gen(function* () {
    const runs = yield* Runs
    const runCommands = yield* RunCommands
    const streams = yield* RunStreams
    const { plan: waiting } = yield* planned("tool-waiting", pureModule)
    const { plan: present } = yield* planned("tool-present", pureModule)
    const { plan: reviewed } = yield* planned("tool-approved", pureModule)
    const { context } = yield* TestPlane
    yield* runCommands.Approve(reviewed.id, { context })
    expect(yield* supersede).toBe(0)
    yield* madeWithAnother(waiting.id)
    yield* madeWithAnother(reviewed.id)
    // A plan without a recorded tool is also outdated, because svc cannot determine the tool that would apply it.
    const missing = Layer.succeed(Toolchain, {
      resolve: () => Effect.fail(new ToolMissing({ message: "None.", remedy: "Install one." }))
    })
    expect(yield* supersede.pipe(Effect.provide(missing))).toBe(0)
    expect(yield* supersede).toBe(2)
    const statuses = yield* Effect.forEach([waiting, present, reviewed], ({ id }) => runs.read(id))
    expect(statuses.map(({ status }) => status)).toEqual(["superseded", "waiting_approval", "superseded"])
    const { items } = yield* streams.events(waiting.id, 0, 1000)
    expect(JSON.stringify(items.at(-1)?.data)).toContain("The plan was made with")
    expect(yield* supersede).toBe(0)
  })
)
