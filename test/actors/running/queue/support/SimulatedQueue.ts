import * as fc from "fast-check"
import {
  decide,
  type QueuedRun,
  type QueueLimits,
  type QueueState,
  type RunningRun
} from "../../../../../actors/running/queue/QueueDecision.ts"
import { Brand } from "effect"
import type { RunId, WorkspaceId } from "../../../../../schema/records/Ids.ts"

// Arbitrary strings can be ids here, because the decision only compares them.
export const run = Brand.nominal<RunId>()
export const workspaceOf = Brand.nominal<WorkspaceId>()
export interface Arrival {
  readonly workspace: number
  readonly subject: number
  readonly capsule: number
  readonly kind: "plan" | "build" | "drift"
}

/**
 * Builds an in-memory queue that calls only `decide`. After each decision, it updates its own records as a claim would
 * update the rows.
 */
export const simulated = (given: QueueLimits) => {
  const waiting: Array<Omit<QueuedRun, "workspaceTurn" | "subjectTurn">> = []
  const active: Array<RunningRun> = []
  const turns = new Map<string, number>()
  let clock = 0
  const workspaceKey = (pool: string, workspaceId: string) => `${pool} ${workspaceId}`
  const subjectKey = (pool: string, workspaceId: string, subject: string) => `${pool} ${workspaceId} ${subject}`
  const tick = () => String((clock += 1)).padStart(6, "0")
  const state = (): QueueState => ({
    limits: given,
    running: active,
    queued: waiting.map((run) => ({
      ...run,
      workspaceTurn: turns.get(workspaceKey(run.pool, run.workspaceId)) ?? 0,
      subjectTurn: turns.get(subjectKey(run.pool, run.workspaceId, run.subject)) ?? 0
    }))
  })
  const startAll = () => {
    const started: Array<QueuedRun> = []
    for (let { next } = decide(state()); next !== undefined; { next } = decide(state())) {
      const found = next
      waiting.splice(
        waiting.findIndex(({ id }) => id === found.id),
        1
      )
      const { capsuleLine, id, pool, subject, workspaceId } = found
      active.push({ id, pool, workspaceId, capsuleLine, startedAt: tick() })
      turns.set(workspaceKey(pool, workspaceId), clock)
      turns.set(subjectKey(pool, workspaceId, subject), clock)
      started.push(found)
    }
    return started
  }
  return {
    active,
    waiting,
    state,
    startAll,
    arrive: ({ capsule, kind, subject, workspace }: Arrival) => {
      const at = tick()
      waiting.push({
        id: run(`run_${at}`),
        workspaceId: workspaceOf(`ws_${workspace}`),
        subject: `usr_${workspace}_${subject}`,
        pool: kind === "build" ? "builds" : "runs",
        capsuleLine: `cap_${workspace}_${capsule}`,
        comesLast: kind === "drift",
        queuedAt: at
      })
    },
    complete: (index: number) => active.splice(index % active.length, 1)[0]
  }
}

const arrival = (workspaces: number, kinds: ReadonlyArray<Arrival["kind"]>): fc.Arbitrary<Arrival> =>
  fc.record({
    workspace: fc.nat(workspaces - 1),
    subject: fc.nat(2),
    capsule: fc.nat(30),
    kind: fc.constantFrom(...kinds)
  })

/** Generates arrivals, and completions of randomly chosen Runs. */
export const story = (workspaces: number, kinds: ReadonlyArray<Arrival["kind"]>) =>
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: arrival(workspaces, kinds) },
      { weight: 2, arbitrary: fc.nat(100).map((ends) => ({ ends })) }
    ),
    { minLength: 20, maxLength: 120 }
  )

export const anyLimits = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })).map(
  ([places, perWorkspace]): QueueLimits => ({
    runs: { places, perWorkspace: Math.min(places, perWorkspace) },
    builds: { places: 2, perWorkspace: 1 }
  })
)
