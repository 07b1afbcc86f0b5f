import { afterAll, expect } from "bun:test"
import { Array as Arr, Effect } from "effect"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { hasPostgres } from "../../../support/PostgresTests.ts"
import { begun, farPlane, offerTo, world } from "../support/FarPlane.ts"

const tests = suite(farPlane)
afterAll(tests.dispose)

const mostStatements = 50
/** As many as a report may have. */
const many = 2000

tests.live("a report with 2,000 events, and one with 2,000 lines, is stored with at most 50 statements", () =>
  Effect.gen(function* () {
    const agent = yield* (yield* world).enrolled()
    yield* begun("reports")
    const { offer } = yield* offerTo(agent)
    yield* agent.as(agent.client.Accept(offer))
    const at = new Date().toISOString()
    const events = Arr.makeBy(many, (n) => ({
      kind: "event" as const,
      at,
      fact: {
        kind: "resource.completed" as const,
        data: { address: `terraform_data.it[${n}]`, action: "create", id: `${n}` }
      }
    }))
    const lines = Arr.makeBy(many, (n) => ({
      kind: "line" as const,
      at,
      phase: "plan" as const,
      stream: "stdout" as const,
      text: `line ${n}`
    }))
    let statements = 0
    const stop = (yield* Commits).beforeWrites(() => {
      statements += 1
    })
    for (const [index, entries] of [events, lines].entries()) {
      statements = 0
      const number = index + 1
      const report = agent.client.Report({ runId: offer.runId, fence: offer.fence, batch: { number, entries } })
      expect(yield* agent.as(report)).toEqual({ acknowledged: number })
      // On PostgreSQL, reports are stored in sessions whose statements are not counted.
      if (!hasPostgres) expect(statements).toBeGreaterThan(1)
      expect(statements).toBeLessThanOrEqual(mostStatements)
    }
    stop()
    const { items } = yield* (yield* RunStreams).events(offer.runId, 0, 2 * many)
    expect(items.filter(({ kind }) => kind === "resource.completed")).toHaveLength(many)
  })
)
