import { describe, expect, test } from "bun:test"
import { barsOf, linesByDay } from "../../src/dashboard/screens/runs/ChangeLines.ts"
import { filterOf, runSearch, showsChanges } from "../../src/dashboard/screens/runs/RunSearch.ts"
import { baseRun } from "../browser/support/records/Runs.ts"

const check = (id: string, more: Parameters<typeof baseRun>[0] | object = {}) =>
  baseRun({
    id,
    type: "drift_check",
    status: "succeeded",
    drifted: false,
    createdAt: "2026-01-01T12:00:00.000Z",
    ...more
  })

describe("Run lines", () => {
  test("the list of Runs folds consecutive drift checks without findings, but never a check with findings", () => {
    const runs = [check("run_a"), check("run_b"), check("run_c", { drifted: true }), check("run_d")]
    const [day] = linesByDay(runs, [], { foldsChecks: true })
    expect(day?.lines.map((line) => (line.kind === "checks" ? line.runs.length : line.run.id))).toEqual([
      2,
      "run_c",
      "run_d"
    ])
    expect(linesByDay(runs, [], { foldsChecks: false })[0]?.lines).toHaveLength(4)
  })

  test("the list of Runs shows the progress of a change", () => {
    const plan = baseRun({ id: "run_p", type: "plan", status: "waiting_approval" })
    expect(barsOf(plan, undefined)).toEqual(["done", "waiting", "open"])
    expect(barsOf(check("run_a"), undefined)).toBeUndefined()
  })

  test("the list's address keeps only the parameters that the API accepts", () => {
    const search = runSearch({
      q: "web",
      status: "failed,nonsense,failed",
      type: "nonsense",
      from: "2026-01-01",
      until: "never"
    })
    expect(filterOf(search)).toEqual({ search: "web", status: "failed", since: "2026-01-01T00:00:00.000Z" })
    expect([showsChanges(search), showsChanges(runSearch({ capsule: "cap_1" }))]).toEqual([false, true])
  })
})
