import { describe, expect, test } from "bun:test"
import { progressOf, stepsOf } from "../../src/dashboard/screens/run/Phases.ts"
import { eventsOf } from "../browser/support/records/RunStreams.ts"
import { applyRun, failedRun, queuedRun, reviewRun, runs } from "../browser/support/records/Runs.ts"

const runOf = (id: string) => {
  const run = runs.find((each) => each.id === id)
  if (run === undefined) throw new Error(id)
  return run
}
const states = (id: string) => {
  const run = runOf(id)
  return stepsOf(run, eventsOf(run)).map(({ id: step, state }) => [step, state])
}

describe("the timeline of a Run", () => {
  test("of a waiting plan ends at a person", () => {
    expect(states(reviewRun)).toEqual([
      ["queue", "done"],
      ["prepare", "done"],
      ["init", "done"],
      ["plan", "done"],
      ["approval", "waiting"]
    ])
  })

  test("of a running apply shows what runs now", () => {
    expect(states(applyRun)).toEqual([
      ["queue", "done"],
      ["prepare", "done"],
      ["init", "done"],
      ["apply", "active"],
      ["state", "pending"]
    ])
  })

  test("of a failed apply shows where it failed", () => {
    expect(states(failedRun)).toContainEqual(["apply", "failed"])
    expect(states(failedRun)).toContainEqual(["state", "skipped"])
  })

  test("of a queued plan has nothing but the queue", () => {
    expect(states(queuedRun).map(([, state]) => state)).toEqual(["active", "pending", "pending", "pending", "pending"])
  })

  test("shows a source build only where there was one, between its neighbours", () => {
    const run = runOf(reviewRun)
    const at = (second: number) => `2026-11-20T09:00:0${second}.000Z`
    const events = ["prepare", "build", "init", "plan"].map((phase, index) => ({
      seq: index + 1,
      at: at(index),
      kind: "run.phase" as const,
      data: { phase }
    }))
    expect(stepsOf(run, events).map(({ id }) => id)).toEqual(["queue", "prepare", "build", "init", "plan", "approval"])
  })

  test("gives each finished step its own time", () => {
    const run = runOf(reviewRun)
    const plan = stepsOf(run, eventsOf(run)).find(({ id }) => id === "init")
    expect(Date.parse(plan?.finishedAt ?? "") - Date.parse(plan?.startedAt ?? "")).toBe(1700)
  })
})

describe("the progress of an apply", () => {
  test("follows each resource to its end", () => {
    expect(progressOf(eventsOf(runOf(failedRun))).map(({ address, state }) => [address, state])).toEqual([
      ["aws_lb_target_group.green", "done"],
      ["aws_lb_listener_rule.green", "failed"]
    ])
  })
})
