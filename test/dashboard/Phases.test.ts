import { describe, expect, test } from "bun:test"
import { notBegun, progressOf, stepsOf } from "../../src/dashboard/screens/run/Phases.ts"
import type { Run } from "../../src/dashboard/api/Types.ts"
import { countsOf } from "../../src/dashboard/screens/run/PlanCounts.ts"
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

describe("Run timeline", () => {
  test("the timeline of a waiting plan ends with the review", () => {
    expect(states(reviewRun)).toEqual([
      ["queue", "done"],
      ["prepare", "done"],
      ["init", "done"],
      ["plan", "done"],
      ["approval", "waiting"]
    ])
  })

  test("the timeline of a speculative plan ends with the plan, because nobody approves it", () => {
    const run = { ...runOf(reviewRun), speculative: true, status: "succeeded", requiresApproval: false } as const
    expect(stepsOf(run, eventsOf(run)).map(({ id, state }) => [id, state])).toEqual([
      ["queue", "done"],
      ["prepare", "done"],
      ["init", "done"],
      ["plan", "done"]
    ])
  })

  test("the timeline of an approved or discarded plan keeps the time at which the plan finished, and shows the decision", () => {
    const waiting = runOf(reviewRun)
    const events = eventsOf(waiting)
    const parked = events.find(({ kind }) => kind === "run.waiting_approval")?.at
    const finishedAt = "2026-11-28T12:00:00.000Z"
    const ends = (run: Run) =>
      stepsOf(run, events)
        .slice(-2)
        .map((step) => [step.id, step.state, step.finishedAt])
    const approved = { ...waiting, status: "succeeded", approvedAt: finishedAt, finishedAt } as const
    expect(parked).toBeDefined()
    expect(ends(approved)).toEqual([
      ["plan", "done", parked],
      ["approval", "done", finishedAt]
    ])
    expect(ends({ ...waiting, status: "cancelled", finishedAt })).toEqual([
      ["plan", "done", parked],
      ["approval", "discarded", finishedAt]
    ])
    expect(ends({ ...approved, status: "cancelled" })[1]?.[1]).toBe("withdrawn")
  })

  test("the timeline of a running apply shows the current step", () => {
    expect(states(applyRun)).toEqual([
      ["queue", "done"],
      ["prepare", "done"],
      ["init", "done"],
      ["apply", "active"],
      ["state", "pending"]
    ])
  })

  test("the timeline of a failed apply shows the failed step", () => {
    expect(states(failedRun)).toContainEqual(["apply", "failed"])
    expect(states(failedRun)).toContainEqual(["state", "skipped"])
  })

  test("the timeline marks only the tool's step if the tool failed but its state was saved", () => {
    const run = runOf(failedRun)
    const events = [...eventsOf(run)]
    events.splice(-1, 0, {
      seq: events.length,
      at: "2026-11-20T09:00:09.000Z",
      kind: "run.phase" as const,
      data: { phase: "state" }
    })
    const ends = (each: typeof run) => stepsOf(each, events).map(({ state }) => state)
    expect(ends(run)).toEqual(["done", "done", "done", "failed", "done"])
    const { stateVersionId: _saved, ...unsaved } = run
    expect(ends(unsaved)).toEqual(["done", "done", "done", "failed", "skipped"])
    expect(ends({ ...run, status: "cancelled" })).toEqual(["done", "done", "done", "skipped", "done"])
    events.splice(-1, 0, {
      seq: events.length,
      at: "2026-11-20T09:00:10.000Z",
      kind: "run.phase" as const,
      data: { phase: "check" }
    })
    expect(ends({ ...run, error: { code: "lifecycle_failed", message: "" } })).toEqual([
      "done",
      "done",
      "done",
      "done",
      "done",
      "failed"
    ])
  })

  test("the timeline of an apply omits the init step if the plan has already prepared the module", () => {
    const run = runOf(failedRun)
    const passing = eventsOf(run).filter(({ data, kind }) => kind !== "run.phase" || data.phase !== "init")
    expect(stepsOf(run, passing).map(({ id }) => id)).toEqual(["queue", "prepare", "apply", "state"])
  })

  test("the timeline of a Run that failed before any step marks where the Run failed", () => {
    const run = runOf(failedRun)
    expect(stepsOf(run, []).map(({ state }) => state)).toEqual(["done", "failed", "skipped", "skipped", "skipped"])
    const { startedAt: _never, ...refused } = run
    expect(stepsOf(refused, []).map(({ state }) => state)[0]).toBe("failed")
  })

  test("the timeline of a queued plan shows only the wait", () => {
    expect(states(queuedRun).map(([, state]) => state)).toEqual(["active", "pending", "pending", "pending", "pending"])
  })

  test("the timeline shows a source build between its neighbouring steps, and only if there was a build", () => {
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

  test("the timeline shows the duration of each finished step", () => {
    const run = runOf(reviewRun)
    const plan = stepsOf(run, eventsOf(run)).find(({ id }) => id === "init")
    expect(Date.parse(plan?.finishedAt ?? "") - Date.parse(plan?.startedAt ?? "")).toBe(1700)
  })
})

describe("Apply progress", () => {
  test("an apply's progress lists the parts of the plan that have not started, except parts that the tool never reports", () => {
    const changes = [
      { address: "a.done", actions: ["create"] },
      { address: "a.failed", actions: ["delete", "create"] },
      { address: "a.next", actions: ["update"] },
      { address: "a.moved", actions: ["no-op"] },
      { address: "a.forgotten", actions: ["forget"] },
      { address: "a.read", actions: ["read"] }
    ].map((change) => ({ mode: "managed", type: "a", name: "x", provider: "p", changedAttributes: [], ...change }))
    const begun = ["a.done", "a.failed"].map((address) => ({
      address,
      action: "create",
      state: "done" as const,
      startedAt: "2026-11-20T09:00:00.000Z"
    }))
    expect(notBegun(changes, begun)).toEqual(["a.next"])
  })

  test("an apply's progress follows each resource until it is done", () => {
    expect(progressOf(eventsOf(runOf(failedRun))).map(({ address, state }) => [address, state])).toEqual([
      ["aws_lb_target_group.green", "done"],
      ["aws_lb_listener_rule.green", "failed"]
    ])
  })
})

describe("Apply counts", () => {
  const summary = { add: 3, change: 0, destroy: 1, replace: 1, import: 0, forget: 2 }

  test("an apply's counts come from its plan's changes, excluding data sources", () => {
    const change = { address: "a.b", mode: "managed", type: "a", name: "b", provider: "p", changedAttributes: [] }
    const resourceChanges = [
      { ...change, actions: ["create"] },
      { ...change, actions: ["update"], importing: { id: "x" } },
      { ...change, actions: ["no-op"], previousAddress: "a.c" },
      { ...change, actions: ["read"] },
      { ...change, actions: ["create"] }
    ]
    expect(countsOf({ planSummary: summary, resourceChanges })).toEqual([
      { kind: "create", count: 2 },
      { kind: "import", count: 1 },
      { kind: "move", count: 1 }
    ])
  })

  test("an apply's counts come from its summary if its changes were not recorded", () => {
    expect(countsOf({ planSummary: summary }).map(({ count, kind }) => [kind, count])).toEqual([
      ["destroy", 1],
      ["replace", 1],
      ["forget", 2],
      ["create", 3]
    ])
  })
})
