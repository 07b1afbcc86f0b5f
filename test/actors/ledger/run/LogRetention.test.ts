import { expect, test } from "bun:test"
import { type KeptLog, type LogKeptReason, logKeptReason } from "../../../../actors/ledger/run/LogRemoval.ts"

const before = "2026-05-01T00:00:00.000Z"

/** An old Run with no reason to keep its log. */
const old: KeptLog = {
  endedAt: "2026-04-30T23:59:59.999Z",
  isOver: true,
  isPendingPlan: false,
  madeCurrentState: false,
  isNewest: false,
  leftState: false
}

const cases: ReadonlyArray<readonly [what: string, log: Partial<KeptLog>, reason: LogKeptReason | undefined]> = [
  ["an old Run that nothing needs", {}, undefined],
  ["the very moment", { endedAt: before }, "young"],
  ["a recent Run", { endedAt: "2026-05-02T00:00:00.000Z" }, "young"],
  ["a Run whose last lines are not written", { endedAt: null }, "open"],
  ["a Run that executes again after its log had ended", { isOver: false }, "open"],
  ["a plan that waits for its approval", { isOver: false, isPendingPlan: true }, "pending_plan"],
  ["an approved plan that nobody applied", { isPendingPlan: true }, "pending_plan"],
  ["a Run that left a state nobody has decided about", { leftState: true }, "left_over_state"],
  ["the apply of the Capsule's present state", { madeCurrentState: true }, "current_state"],
  ["the last Run of a Capsule", { isNewest: true }, "newest"]
]

for (const [what, log, reason] of cases) {
  test(`log retention classifies the log of ${what}: ${reason ?? "may be removed"}`, () =>
    expect(logKeptReason({ ...old, ...log }, before)).toBe(reason))
}

test("a single reason is enough to keep a log, and an old log without a reason may be removed", () => {
  const either = [false, true]
  for (const isPendingPlan of either) {
    for (const madeCurrentState of either) {
      for (const isNewest of either) {
        for (const leftState of either) {
          const needs = { isPendingPlan, madeCurrentState, isNewest, leftState }
          const isNeeded = Object.values(needs).includes(true)
          expect({ ...needs, kept: logKeptReason({ ...old, ...needs }, before) !== undefined }).toEqual({
            ...needs,
            kept: isNeeded
          })
          for (const isOver of either) {
            expect(logKeptReason({ ...old, ...needs, isOver, endedAt: before }, before)).toBeDefined()
          }
        }
      }
    }
  }
})
