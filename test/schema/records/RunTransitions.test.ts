import { describe, expect, test } from "bun:test"
import { RunStatus, RunType } from "../../../schema/records/Run.ts"
import {
  isApprovedPlan,
  isFinalStatus,
  isPendingPlan,
  type RunStanding,
  runTransitions,
  transitionEvent
} from "../../../schema/records/RunTransitions.ts"

const statuses = RunStatus.literals
const standings: ReadonlyArray<RunStanding> = RunType.literals.flatMap((type) =>
  statuses.flatMap((status) =>
    [false, true].flatMap((isApproved) => [false, true].map((isUsed) => ({ type, status, isApproved, isUsed })))
  )
)

/** The statuses that each status may change to, written by hand as an independent check. */
const byHand: Readonly<Record<RunStatus, string>> = {
  queued: "running failed cancelled superseded",
  running: "queued waiting_approval succeeded failed cancelled superseded",
  waiting_approval: "succeeded cancelled superseded expired",
  succeeded: "",
  failed: "",
  cancelled: "",
  superseded: "",
  expired: ""
}

describe("Run transitions", () => {
  test("a Run can make exactly the transitions in the table", () => {
    for (const status of statuses) {
      expect(Object.keys(runTransitions[status]).toSorted()).toEqual(
        byHand[status].split(" ").filter(Boolean).toSorted()
      )
    }
  })

  test("every status of a Run can be reached from `queued`", () => {
    const reached = new Set<RunStatus>(["queued"])
    for (const from of reached) {
      for (const to of statuses) if (runTransitions[from][to] !== undefined) reached.add(to)
    }
    expect([...reached].toSorted()).toEqual([...statuses].toSorted())
  })

  test("every Run ends in a final status, except for an approved plan that was never applied", () => {
    const leaving = standings.filter(
      (run) => isFinalStatus(run.status) && statuses.some((to) => transitionEvent(run, to) !== undefined)
    )
    expect(leaving).toEqual([
      { type: "plan", status: "succeeded", isApproved: true, isUsed: false },
      { type: "destroy_plan", status: "succeeded", isApproved: true, isUsed: false },
      { type: "restore", status: "succeeded", isApproved: true, isUsed: false }
    ])
    for (const run of leaving) {
      const next = statuses.filter((to) => transitionEvent(run, to) !== undefined)
      expect(next).toEqual(["cancelled", "superseded", "expired"])
      expect(isApprovedPlan(run) && isPendingPlan(run)).toBe(true)
    }
  })

  test("each transition of a Run is reported by an event named after the new status", () => {
    for (const run of standings) {
      for (const to of statuses) {
        const event = transitionEvent(run, to)
        if (event === undefined) continue
        const expected =
          run.status === "waiting_approval" && to === "succeeded"
            ? "run.approved"
            : `run.${to === "running" ? "started" : to}`
        expect(event).toBe(expected as typeof event)
      }
    }
  })
})
