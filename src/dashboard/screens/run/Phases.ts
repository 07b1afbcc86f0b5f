import type { ResourceChange, Run, RunEvent } from "../../api/Types.ts"

export type StepState = "done" | "active" | "waiting" | "failed" | "skipped" | "pending" | "discarded" | "withdrawn"

export interface Step {
  /** A phase of the runner, or `queue` or `approval`. */
  readonly id: string
  readonly state: StepState
  readonly startedAt?: string
  readonly finishedAt?: string
}

/** The phase to show for each phase of the runner, in display order. Several runner phases may be shown as one. */
const merged: Readonly<Record<string, string>> = {
  prepare: "prepare",
  fetch: "prepare",
  build: "build",
  init: "init",
  plan: "plan",
  show: "plan",
  apply: "apply",
  state: "state",
  outputs: "state",
  check: "check"
}

const expected: Readonly<Record<Run["type"], ReadonlyArray<string>>> = {
  source_sync: ["queue", "prepare"],
  compatibility_check: ["queue", "prepare"],
  plan: ["queue", "prepare", "init", "plan", "approval"],
  destroy_plan: ["queue", "prepare", "init", "plan", "approval"],
  apply: ["queue", "prepare", "init", "apply", "state"],
  destroy_apply: ["queue", "prepare", "init", "apply", "state"],
  drift_check: ["queue", "prepare", "init", "plan"],
  backup: ["queue", "prepare"],
  restore: ["queue", "prepare", "state"]
}

const phaseOf = (event: RunEvent): string | undefined => {
  if (event.kind !== "run.phase") return undefined
  const { phase } = event.data
  return typeof phase === "string" ? (merged[phase] ?? phase) : undefined
}

const approvalState = (run: Run, isParked: boolean): StepState => {
  if (run.status === "cancelled" && isParked) return run.approvedAt === undefined ? "discarded" : "withdrawn"
  if (run.approvedAt !== undefined) return "done"
  if (run.status === "waiting_approval") return "waiting"
  if (run.status === "queued" || run.status === "running") return "pending"
  return "skipped"
}

const endState: Readonly<Record<Run["status"], StepState>> = {
  queued: "pending",
  running: "active",
  waiting_approval: "done",
  succeeded: "done",
  failed: "failed",
  cancelled: "skipped",
  superseded: "done",
  expired: "done"
}

interface Start {
  readonly id: string
  readonly at: string
}

const startsOf = (events: ReadonlyArray<RunEvent>): ReadonlyArray<Start> => {
  const starts: Array<Start> = []
  for (const event of events) {
    const phase = phaseOf(event)
    if (phase !== undefined && !starts.some(({ id }) => id === phase)) starts.push({ id: phase, at: event.at })
  }
  return starts
}

/** The state is saved even after a failed apply, so the failed step is not always the last step that began. */
const afterwards: ReadonlySet<string> = new Set(["state", "check"])

/**
 * Returns the step at which the Run ended. If the Run was refused before any step began, returns `prepare`, although that
 * step never began.
 */
const endedAt = (run: Run, starts: ReadonlyArray<Start>): string | undefined => {
  if (run.startedAt === undefined) return "queue"
  const ids = starts.map(({ id }) => id)
  const last = ids.at(-1)
  if (last === "check" && run.error?.code.startsWith("lifecycle_") === true) return last
  if (run.status !== "failed" && run.status !== "cancelled") return last
  return ids.findLast((id) => !afterwards.has(id)) ?? last ?? "prepare"
}

/** The state of a step that has begun. */
const begunState = (run: Run, id: string, ended: string | undefined, isLast: boolean): StepState => {
  const isOver = run.status === "failed" || run.status === "cancelled"
  if (!isOver) return isLast ? endState[run.status] : "done"
  if (id === ended) return endState[run.status]
  return id === "state" && run.stateVersionId === undefined ? "skipped" : "done"
}

const present = (finishedAt: string | undefined) => (finishedAt === undefined ? {} : { finishedAt })

/** The timeline of a Run: each step, its state and, once known, its start and end times. */
export const stepsOf = (run: Run, events: ReadonlyArray<RunEvent>): ReadonlyArray<Step> => {
  const starts = startsOf(events)
  const ended = endedAt(run, starts)
  // Like a drift check, a speculative plan needs no approval.
  const all = [...expected[run.speculative === true ? "drift_check" : run.type]]
  for (const { id } of starts) {
    if (all.includes(id)) continue
    const before = starts[starts.findIndex((start) => start.id === id) - 1]
    all.splice(before === undefined ? 1 : all.indexOf(before.id) + 1, 0, id)
  }
  // An apply skips work that its plan has already done, so the page hides a skipped step.
  const reached = Math.max(...starts.map(({ id }) => all.indexOf(id)))
  const ids = all.filter((id, index) => id === "queue" || index >= reached || starts.some((start) => start.id === id))
  const parked = events.find(({ kind }) => kind === "run.waiting_approval")?.at
  // A plan has been computed once it waits for approval, whereas the Run finishes only with the decision.
  const over = parked ?? run.finishedAt
  return ids.map((id): Step => {
    if (id === "queue") {
      return {
        id,
        state:
          run.startedAt !== undefined
            ? "done"
            : run.status === "queued"
              ? "active"
              : run.status === "failed"
                ? "failed"
                : "skipped",
        startedAt: run.queuedAt,
        ...(run.startedAt === undefined ? {} : { finishedAt: run.startedAt })
      }
    }
    if (id === "approval") {
      return {
        id,
        state: approvalState(run, parked !== undefined),
        ...(parked === undefined ? {} : { startedAt: parked }),
        ...present(run.approvedAt ?? (parked === undefined ? undefined : run.finishedAt))
      }
    }
    const index = starts.findIndex((start) => start.id === id)
    const start = starts[index]
    if (start === undefined) {
      const quiet =
        run.status === "queued" || run.status === "running"
          ? "pending"
          : run.status === "failed" && id === ended
            ? "failed"
            : endState[run.status] === "done" && starts.length === 0
              ? "done"
              : "skipped"
      return { id, state: quiet }
    }
    const next = starts[index + 1]
    const finishedAt = next?.at ?? over
    return {
      id,
      state: parked === undefined ? begunState(run, id, ended, next === undefined) : "done",
      startedAt: start.at,
      ...(finishedAt === undefined ? {} : { finishedAt })
    }
  })
}

export interface ResourceProgress {
  readonly address: string
  readonly action: string
  readonly state: "active" | "done" | "failed"
  readonly startedAt: string
  readonly finishedAt?: string
}

/**
 * Number of completed operations that the tool reports when this plan is applied. A replacement counts twice, as a deletion
 * and a creation.
 */
export const expectedOf = (plan: Pick<Run, "planSummary"> | undefined): number =>
  plan?.planSummary === undefined
    ? 0
    : plan.planSummary.add + plan.planSummary.change + plan.planSummary.destroy + 2 * plan.planSummary.replace

/** The planned actions that the tool reports during an apply. All other actions change only the state. */
const reportedActions: ReadonlySet<string> = new Set(["create", "update", "delete"])

/** Addresses of the planned changes that the apply has not begun. */
export const notBegun = (
  changes: ReadonlyArray<ResourceChange>,
  items: ReadonlyArray<ResourceProgress>
): ReadonlyArray<string> => {
  const begun = new Set(items.map(({ address }) => address))
  return changes
    .filter(({ actions, address }) => actions.some((action) => reportedActions.has(action)) && !begun.has(address))
    .map(({ address }) => address)
}

const word = (value: unknown): string => (typeof value === "string" ? value : "")

const isOfResource = (event: RunEvent) =>
  event.kind === "resource.started" ||
  event.kind === "resource.progress" ||
  event.kind === "resource.completed" ||
  event.kind === "resource.failed"

/** The progress of an apply, in the order in which operations began. */
export const progressOf = (events: ReadonlyArray<RunEvent>): ReadonlyArray<ResourceProgress> => {
  const resources = new Map<string, ResourceProgress>()
  for (const event of events) {
    if (!isOfResource(event)) continue
    const address = word(event.data.address)
    if (address === "") continue
    const action = word(event.data.action)
    const key = `${address} ${action}`
    const known = resources.get(key) ?? { address, action, state: "active", startedAt: event.at }
    if (event.kind === "resource.completed") resources.set(key, { ...known, state: "done", finishedAt: event.at })
    else if (event.kind === "resource.failed") resources.set(key, { ...known, state: "failed", finishedAt: event.at })
    else resources.set(key, known)
  }
  return [...resources.values()]
}
