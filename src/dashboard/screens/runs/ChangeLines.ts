import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import type { FoldedRun, Run } from "../../api/Types.ts"
import { dayOf } from "../../words/Days.ts"

/** A line in the list: a Run with its related Runs, or a series of drift checks that found nothing. */
export type Line =
  | { readonly kind: "change"; readonly run: Run; readonly apply?: FoldedRun; readonly fed: ReadonlyArray<FoldedRun> }
  | { readonly kind: "checks"; readonly runs: ReadonlyArray<Run> }

export interface Day {
  /** Local date in the format of a date field. */
  readonly day: string
  readonly lines: ReadonlyArray<Line>
}

const foundNothing = (run: Run): boolean =>
  run.type === "drift_check" && run.status === "succeeded" && run.drifted !== true

export const isApply = ({ type }: FoldedRun): boolean => type === "apply" || type === "destroy_apply"

/**
 * Groups the lines of a list by day, newest first. If `checks` is set, consecutive drift checks that found nothing share one
 * line.
 */
export const linesByDay = (
  runs: ReadonlyArray<Run>,
  folded: ReadonlyArray<FoldedRun>,
  { foldsChecks }: { readonly foldsChecks: boolean }
): ReadonlyArray<Day> => {
  const of = Map.groupBy(folded, ({ planRunId }) => planRunId)
  const days: Array<{ readonly day: string; readonly lines: Array<Line> }> = []
  for (const run of runs) {
    const day = dayOf(run.createdAt)
    const last = days.at(-1)
    const today = last?.day === day ? last : { day, lines: [] }
    if (today !== last) days.push(today)
    const above = today.lines.at(-1)
    if (foldsChecks && foundNothing(run) && above?.kind === "checks") {
      today.lines[today.lines.length - 1] = { kind: "checks", runs: [...above.runs, run] }
    } else if (foldsChecks && foundNothing(run)) {
      today.lines.push({ kind: "checks", runs: [run] })
    } else {
      const belonging = of.get(run.id) ?? []
      const apply = belonging.find(isApply)
      const fed = belonging.filter((each) => !isApply(each))
      today.lines.push(apply === undefined ? { kind: "change", run, fed } : { kind: "change", run, apply, fed })
    }
  }
  // A single check is not collapsed.
  return days.map(({ day, lines }) => ({
    day,
    lines: lines.map((line) => {
      const [only, ...more] = line.kind === "checks" ? line.runs : []
      return only === undefined || more.length > 0 ? line : { kind: "change", run: only, fed: [] }
    })
  }))
}

type Bar = "done" | "waiting" | "failed" | "active" | "open"

/** The stages of a change: its plan, its approval and its apply. */
export const barsOf = (run: Run, apply: FoldedRun | undefined): readonly [Bar, Bar, Bar] | undefined => {
  if (!isPlan(run.type) || run.speculative === true) return undefined
  const active = (status: Run["status"]): Bar =>
    status === "succeeded" ? "done" : status === "failed" ? "failed" : status === "running" ? "active" : "open"
  if (apply !== undefined) return ["done", "done", active(apply.status)]
  if (run.status === "waiting_approval") return ["done", "waiting", "open"]
  const approval: Bar = run.approvedAt !== undefined && run.status === "succeeded" ? "done" : "open"
  const planned = run.planSummary !== undefined && run.status !== "failed" && run.status !== "running"
  return [planned ? "done" : active(run.status), approval, "open"]
}

/** The execution time of a Run in milliseconds. For a change, the total of its plan and apply. */
export const tookOf = (
  ...runs: ReadonlyArray<Pick<Run, "startedAt" | "finishedAt"> | undefined>
): number | undefined => {
  const spans = runs.flatMap((run) =>
    run?.startedAt === undefined || run.finishedAt === undefined
      ? []
      : [Date.parse(run.finishedAt) - Date.parse(run.startedAt)]
  )
  return spans.length === 0 ? undefined : spans.reduce((sum, span) => sum + span, 0)
}
