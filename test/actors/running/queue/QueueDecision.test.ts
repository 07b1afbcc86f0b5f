import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import {
  decide,
  type QueuedRun,
  type QueueLimits,
  type QueueState,
  type RunningRun,
  runsToPreempt
} from "../../../../actors/running/queue/QueueDecision.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { run, workspaceOf, simulated, story, anyLimits, type Arrival } from "./support/SimulatedQueue.ts"

const limits: QueueLimits = { runs: { places: 4, perWorkspace: 3 }, builds: { places: 3, perWorkspace: 2 } }

const otherWorkspace = workspaceOf("ws_b")

const queued = (id: string, more: Partial<QueuedRun> = {}): QueuedRun => ({
  id: run(id),
  workspaceId: workspaceOf("ws_a"),
  pool: "runs",
  subject: "ada",
  comesLast: false,
  queuedAt: "2026-01-01T00:00:00.000Z",
  workspaceTurn: 0,
  subjectTurn: 0,
  ...more
})

const running = (id: string, more: Partial<RunningRun> = {}): RunningRun => ({
  id: run(id),
  workspaceId: workspaceOf("ws_a"),
  pool: "runs",
  startedAt: "2026-01-01T00:00:00.000Z",
  ...more
})

const of = (state: Partial<QueueState>) => decide({ limits, running: [], queued: [], ...state })

describe("Next Run", () => {
  test("the queue starts no Run when nothing is queued", () => expect(of({}).next).toBeUndefined())

  test("the queue next starts a Run of the Workspace that has waited longest, even if other Workspaces have queued more Runs", () => {
    const many = ["1", "2", "3"].map((id) => queued(`a${id}`, { workspaceTurn: 7, subjectTurn: 7 }))
    const late = queued("b1", {
      workspaceId: otherWorkspace,
      workspaceTurn: 6,
      queuedAt: "2026-01-02T00:00:00.000Z"
    })
    expect<string | undefined>(of({ queued: [...many, late] }).next?.id).toBe("b1")
  })

  test("within a Workspace, the queue next starts a Run of the person whose last Run started longest ago", () => {
    const many = ["1", "2", "3"].map((id) => queued(`a${id}`, { workspaceTurn: 7, subjectTurn: 7 }))
    const late = queued("b1", {
      subject: "bob",
      workspaceTurn: 7,
      subjectTurn: 3,
      queuedAt: "2026-01-02T00:00:00.000Z"
    })
    const { next, places } = of({ queued: [...many, late] })
    expect<string | undefined>(next?.id).toBe("b1")
    expect([...many, late].map(({ id }) => places.get(id)?.position)).toEqual([2, 3, 4, 1])
  })

  test("the queue skips a Run whose Capsule is busy, even if it is the oldest", () => {
    const behind = queued("behind", { capsuleLine: "cap_1" })
    const free = queued("free", { capsuleLine: "cap_2", queuedAt: "2026-01-02T00:00:00.000Z" })
    const { next, places } = of({ running: [running("holder", { capsuleLine: "cap_1" })], queued: [behind, free] })
    expect<string | undefined>(next?.id).toBe("free")
    const held = { pool: "runs", reason: "capsule_busy", heldByRunId: run("holder") } as const
    expect(places.get("behind")).toEqual({ position: 2, ...held })
  })

  test("the queue starts a Run of another Workspace if the first Workspace has reached its limit", () => {
    const full = ["1", "2", "3"].map((id) => running(id, { startedAt: `2026-01-0${id}T00:00:00.000Z` }))
    const { next, places } = of({
      running: full,
      queued: [queued("own"), queued("other", { workspaceId: otherWorkspace, workspaceTurn: 9 })]
    })
    expect<string | undefined>(next?.id).toBe("other")
    expect(places.get("own")).toEqual({
      position: 1,
      pool: "runs",
      reason: "workspace_limit",
      limit: 3,
      heldByRunId: run("1")
    })
  })

  test("the queue starts applies while builds occupy all build places, and vice versa", () => {
    const builds = ["1", "2", "3"].map((id) => running(id, { pool: "builds", workspaceId: workspaceOf(`ws_${id}`) }))
    const build = queued("build", { pool: "builds" })
    const state = of({ running: builds, queued: [build, queued("apply")] })
    expect<string | undefined>(state.next?.id).toBe("apply")
    expect(state.places.get("build")).toEqual({ position: 1, pool: "builds", reason: "places_taken", limit: 3 })
    const runs = ["1", "2", "3", "4"].map((id) => running(id, { workspaceId: workspaceOf(`ws_${id}`) }))
    expect<string | undefined>(of({ running: runs, queued: [build, queued("apply")] }).next?.id).toBe("build")
  })

  test("the queue starts drift checks only after people's requests, and never in the last free slot", () => {
    const drift = queued("drift", { comesLast: true, queuedAt: "2025-01-01T00:00:00.000Z" })
    expect<string | undefined>(of({ queued: [drift, queued("plan")] }).next?.id).toBe("plan")
    const three = ["1", "2", "3"].map((id) => running(id, { workspaceId: workspaceOf(`ws_${id}`) }))
    expect(of({ running: three, queued: [drift] }).next).toBeUndefined()
    expect<string | undefined>(of({ running: three.slice(1), queued: [drift] }).next?.id).toBe("drift")
    // Two of the Workspace's three places are taken, and the third is reserved for people's requests, so no check starts,
    // although the pool has two free places.
    const own = of({ running: [running("1"), running("2")], queued: [drift] })
    expect(own.places.get("drift")).toMatchObject({ reason: "place_kept", limit: 3, heldByRunId: "1" })
  })

  test("the queue reveals nothing about another Workspace's Runs", () => {
    const others = ["1", "2", "3", "4"].map((id) => running(id, { workspaceId: otherWorkspace }))
    expect(of({ running: others, queued: [queued("own")] }).places.get("own")).toEqual({
      position: 1,
      pool: "runs",
      reason: "places_taken",
      limit: 4
    })
  })
})

const seed = 20_261_122

describe("Random arrivals", () => {
  // N completions use each of the K places at most ceil(N / K) times, so no Workspace overtakes another twice.
  test("with N active Workspaces, the first claimable Run of each starts within N completions", () =>
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 9 })
          .chain((workspaces) => fc.tuple(fc.constant(workspaces), story(workspaces, ["plan"]))),
        fc.integer({ min: 1, max: 5 }),
        ([workspaces, events], places) => {
          const queue = simulated({ ...limits, runs: { places, perWorkspace: places } })
          // For each Workspace with a claimable Run, the number of completions in other Workspaces since that Workspace last
          // started a Run.
          const passed = new Map<WorkspaceId, number>()
          const settle = () => {
            for (const { workspaceId } of queue.startAll()) passed.delete(workspaceId)
            const { places: now, ...rest } = decide(queue.state())
            expect(rest.next).toBeUndefined()
            const claimable = new Set(
              queue.waiting.flatMap(({ id, workspaceId }) =>
                now.get(id)?.reason === "capsule_busy" ? [] : [workspaceId]
              )
            )
            for (const workspace of passed.keys()) if (!claimable.has(workspace)) passed.delete(workspace)
            for (const workspace of claimable) if (!passed.has(workspace)) passed.set(workspace, 0)
          }
          const complete = (index: number) => {
            if (queue.complete(index) === undefined) return
            for (const [workspace, count] of passed) passed.set(workspace, count + 1)
            settle()
            for (const count of passed.values()) expect(count).toBeLessThan(workspaces)
          }
          for (const event of events) {
            if ("ends" in event) complete(event.ends)
            else {
              queue.arrive(event)
              settle()
            }
          }
          while (queue.active.length > 0) complete(0)
          expect(queue.waiting).toEqual([])
        }
      ),
      { seed, numRuns: 300 }
    ))

  test("if each of the K places becomes free, each Workspace and each person starts a Run within ceil(N / K) rounds", () => {
    const rounds = (lines: number, places: number, of: (line: number) => Partial<Arrival>) => {
      const queue = simulated({ ...limits, runs: { places, perWorkspace: places } })
      // One member queues many Runs before anyone else.
      for (let n = 0; n < 40; n++) queue.arrive({ workspace: 0, subject: 0, capsule: n, kind: "plan", ...of(0) })
      queue.startAll()
      for (let line = 1; line < lines; line++) {
        queue.arrive({ workspace: 0, subject: 0, capsule: 100 + line, kind: "plan", ...of(line) })
      }
      for (let round = 1; round <= Math.ceil(lines / places); round++) {
        queue.active.splice(0)
        queue.startAll()
      }
      return queue.waiting.filter(({ capsuleLine }) => /_1\d\d$/.test(capsuleLine ?? ""))
    }
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 6 }), (lines, places) => {
        expect(rounds(lines, places, (line) => ({ workspace: line }))).toEqual([])
        expect(rounds(lines, places, (line) => ({ subject: line }))).toEqual([])
      }),
      { seed, numRuns: 60 }
    )
  })

  test("with random arrivals, the queue respects limits, runs one Run per Capsule, and leaves no usable place empty", () =>
    fc.assert(
      fc.property(anyLimits, story(5, ["plan", "plan", "build", "drift"]), (given, events) => {
        const queue = simulated(given)
        const check = () => {
          queue.startAll()
          const { places } = decide(queue.state())
          const lines = queue.active.map(({ capsuleLine }) => capsuleLine)
          expect(new Set(lines).size).toBe(lines.length)
          for (const pool of ["runs", "builds"] as const) {
            const inPool = queue.active.filter((run) => run.pool === pool)
            expect(inPool.length).toBeLessThanOrEqual(given[pool].places)
            for (const { workspaceId } of inPool) {
              const own = inPool.filter((run) => run.workspaceId === workspaceId)
              expect(own.length).toBeLessThanOrEqual(given[pool].perWorkspace)
            }
          }
          // Each queued Run has a position and a valid reason.
          for (const run of queue.waiting) {
            const place = places.get(run.id)
            expect(place?.position).toBeGreaterThan(0)
            expect(place?.reason).not.toBe("turn")
            expect(place?.reason === "place_kept" && !run.comesLast).toBe(false)
            const holder = queue.active.find(({ id }) => id === place?.heldByRunId)
            if (holder !== undefined) expect(holder.workspaceId).toBe(run.workspaceId)
          }
        }
        for (const event of events) {
          if (!("ends" in event)) queue.arrive(event)
          else if (queue.active.length > 0) queue.complete(event.ends)
          check()
        }
      }),
      { seed, numRuns: 200 }
    ))
})

describe("Running checks", () => {
  const check = (id: string, more: Partial<RunningRun> = {}) =>
    running(id, { scheduledCheck: { isStopping: false }, ...more })
  const asked = [{ workspaceId: workspaceOf("ws_a"), pool: "runs" as const }]
  const one: QueueLimits = { ...limits, runs: { places: 1, perWorkspace: 1 } }

  test("a running drift check stops if a Run in its Workspace or in the pool needs its place", () => {
    expect<ReadonlyArray<string>>(runsToPreempt({ limits: one, running: [check("own")] }, asked)).toEqual(["own"])
    const shared = { ...limits, runs: { places: 1, perWorkspace: 2 } }
    expect<ReadonlyArray<string>>(
      runsToPreempt({ limits: shared, running: [check("other", { workspaceId: otherWorkspace })] }, asked)
    ).toEqual(["other"])
  })

  test("a running drift check continues while no Run is waiting, or while a place is free", () => {
    expect<ReadonlyArray<string>>(runsToPreempt({ limits: one, running: [check("own")] }, [])).toEqual([])
    expect<ReadonlyArray<string>>(runsToPreempt({ limits, running: [check("own")] }, asked)).toEqual([])
    const held = [running("1"), running("2"), running("3"), check("other", { workspaceId: otherWorkspace })]
    expect<ReadonlyArray<string>>(runsToPreempt({ limits, running: held }, asked)).toEqual([])
    expect<ReadonlyArray<string>>(runsToPreempt({ limits: one, running: [running("asked for")] }, asked)).toEqual([])
  })

  test("a waiting Run stops only one drift check, the one that started last", () => {
    const late = check("late", { startedAt: "2026-01-02T00:00:00.000Z" })
    const early = check("early")
    const two: QueueLimits = { ...limits, runs: { places: 2, perWorkspace: 2 } }
    expect<ReadonlyArray<string>>(runsToPreempt({ limits: two, running: [early, late] }, asked)).toEqual(["late"])
    const stopping = { ...late, scheduledCheck: { isStopping: true } }
    expect<ReadonlyArray<string>>(runsToPreempt({ limits: two, running: [early, stopping] }, asked)).toEqual([])
  })
  test("a running plan of a pull request's head stops for a person's Run only if there is no other place", () => {
    const plan = running("plan", { headPlan: { isStopping: false } })
    const stopped = (runs: QueueLimits["runs"], ...others: ReadonlyArray<RunningRun>): ReadonlyArray<string> =>
      runsToPreempt({ limits: { ...limits, runs }, running: [plan, ...others] }, asked)
    expect(stopped({ places: 1, perWorkspace: 1 })).toEqual(["plan"])
    expect(stopped({ places: 4, perWorkspace: 1 })).toEqual(["plan"])
    expect(stopped({ places: 2, perWorkspace: 2 }, running("other"))).toEqual([])
    // The Workspace may execute more Runs, but other Workspaces occupy the pool.
    const others = [running("1", { workspaceId: otherWorkspace }), running("2", { workspaceId: otherWorkspace })]
    expect(stopped({ places: 3, perWorkspace: 2 }, ...others)).toEqual([])
    const stopping = { ...plan, headPlan: { isStopping: true } }
    const one: QueueLimits = { ...limits, runs: { places: 1, perWorkspace: 1 } }
    expect(runsToPreempt({ limits: one, running: [stopping] }, asked)).toEqual([])
  })
})
