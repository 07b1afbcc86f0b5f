import { describe, expect, test } from "bun:test"
import type { FoldedRun, Run } from "../../src/dashboard/api/Types.ts"
import { historyLines, isDecided, tellingCheck } from "../../src/dashboard/screens/capsule/HistoryLines.ts"

const run = (id: string, more: Partial<Run> = {}): Run => ({
  id,
  workspaceId: "ws_1",
  type: "plan",
  status: "succeeded",
  requiresApproval: true,
  trigger: "user",
  attempt: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  queuedAt: "2026-01-01T00:00:00.000Z",
  ...more
})
const check = (id: string, drifted = false) => run(id, { type: "drift_check", drifted })
const applyOf = (planRunId: string, status: Run["status"] = "succeeded"): FoldedRun => ({
  planRunId,
  id: `apply-of-${planRunId}`,
  type: "apply",
  status,
  trigger: "user",
  createdAt: "2026-01-01T00:00:00.000Z"
})

const shape = (runs: ReadonlyArray<Run>, folded: ReadonlyArray<FoldedRun>) =>
  historyLines(runs, folded).map((line) => [line.run.id, line.apply?.id, line.checks.map(({ id }) => id).join()])

describe("Capsule history", () => {
  test("a Capsule's history has a line for each change, with its apply and the checks of its state", () => {
    const runs = [run("waiting"), check("c3"), check("c2", true), run("second"), check("c1"), run("first")]
    expect(shape(runs, [applyOf("second"), applyOf("first")])).toEqual([
      ["waiting", undefined, ""],
      ["second", "apply-of-second", "c3,c2"],
      ["first", "apply-of-first", "c1"]
    ])
  })

  test("a Capsule's history assigns a check to the last successful apply before it, not to a failed apply", () => {
    const runs = [check("c"), run("failed"), run("good")]
    expect(shape(runs, [applyOf("failed", "failed"), applyOf("good")])).toEqual([
      ["failed", "apply-of-failed", ""],
      ["good", "apply-of-good", "c"]
    ])
  })

  test("a Capsule's history has a separate line for a failed check, and for a check whose change is not loaded", () => {
    const failed = run("f", { type: "drift_check", status: "failed" })
    expect(shape([failed, check("c"), run("waiting")], [])).toEqual([
      ["f", undefined, ""],
      ["waiting", undefined, ""],
      ["c", undefined, ""]
    ])
  })

  test("a Capsule's history reports the newest check with findings, and whether somebody has acted on it", () => {
    expect(tellingCheck([check("new"), check("found", true)])?.id).toBe("found")
    expect(tellingCheck([check("new"), check("old")])?.id).toBe("new")
    expect(tellingCheck([])).toBeUndefined()
    expect(isDecided({ run: run("p"), checks: [] })).toBe(false)
    expect(isDecided({ run: run("p"), apply: applyOf("p"), checks: [] })).toBe(true)
    expect(isDecided({ run: run("p", { approvedAt: "2026-01-01T00:00:00.000Z" }), checks: [] })).toBe(true)
  })
})
