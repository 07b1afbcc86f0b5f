import type { RunEventKind } from "../events/RunEvent.ts"
import type { RunStatus, RunType } from "./Run.ts"

type Transitions = Readonly<Partial<Record<RunStatus, RunEventKind>>>

/**
 * All legal transitions of a Run, and the event that each transition records (design, section 5). A status without
 * transitions is final.
 */
export const runTransitions: Readonly<Record<RunStatus, Transitions>> = {
  queued: {
    running: "run.started",
    failed: "run.failed",
    cancelled: "run.cancelled",
    superseded: "run.superseded"
  },
  running: {
    queued: "run.queued",
    waiting_approval: "run.waiting_approval",
    succeeded: "run.succeeded",
    failed: "run.failed",
    cancelled: "run.cancelled",
    superseded: "run.superseded"
  },
  waiting_approval: {
    succeeded: "run.approved",
    cancelled: "run.cancelled",
    superseded: "run.superseded",
    expired: "run.expired"
  },
  succeeded: {},
  failed: {},
  cancelled: {},
  superseded: {},
  expired: {}
}

/**
 * The only transitions out of a final status: an approved plan may lose its approval as long as no apply has used the plan.
 */
export const approvedPlanTransitions: Transitions = {
  cancelled: "run.cancelled",
  superseded: "run.superseded",
  expired: "run.expired"
}

export const isFinalStatus = (status: RunStatus): boolean => Object.keys(runTransitions[status]).length === 0

/**
 * Returns true for types of Runs that are reviewed before they take effect. The Run that carries out a reviewed restore has the
 * same type but is never approved.
 */
export const isPlan = (type: RunType): boolean => type === "plan" || type === "destroy_plan" || type === "restore"

/** Facts that determine which transitions a Run can make. `isUsed`: its apply has been created. */
export interface RunStanding {
  readonly type: RunType
  readonly status: RunStatus
  readonly isApproved: boolean
  readonly isUsed: boolean
}

export const isApprovedPlan = ({ isApproved, isUsed, status, type }: RunStanding): boolean =>
  status === "succeeded" && isPlan(type) && isApproved && !isUsed

/** Returns true for a plan that is waiting for approval or for its apply. It may still change infrastructure or become void. */
export const isPendingPlan = (run: RunStanding): boolean =>
  (run.status === "waiting_approval" && isPlan(run.type)) || isApprovedPlan(run)

/** Returns the event that a transition records, or `undefined` if the transition is illegal. */
export const transitionEvent = (run: RunStanding, to: RunStatus): RunEventKind | undefined =>
  runTransitions[run.status][to] ?? (isApprovedPlan(run) ? approvedPlanTransitions[to] : undefined)
