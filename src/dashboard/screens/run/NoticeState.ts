import type { Run, RunEvent } from "../../api/Types.ts"
import { isPlan } from "../../../../schema/records/RunLifecycle.ts"
import { progressOf } from "./Phases.ts"

/** The state of a Run, for somebody who has another tab open. */
export type NoticeState = "running" | "waiting" | "done" | "failed"

const states: Readonly<Record<Run["status"], NoticeState | undefined>> = {
  queued: "running",
  running: "running",
  waiting_approval: "waiting",
  succeeded: "done",
  failed: "failed",
  cancelled: undefined,
  superseded: undefined,
  expired: undefined
}

export const noticeStateOf = ({ drifted, status, type }: Pick<Run, "drifted" | "status" | "type">) =>
  // The check succeeded, but somebody has to look at it.
  type === "drift_check" && drifted === true ? "waiting" : states[status]

/** Number of an apply's finished resources, and the total; `undefined` before the first resource is finished. */
export const doneOf = (run: Pick<Run, "type">, events: ReadonlyArray<RunEvent>, expected: number) => {
  const items = isPlan(run.type) ? [] : progressOf(events)
  if (items.length === 0) return undefined
  return { done: items.filter(({ state }) => state === "done").length, total: Math.max(expected, items.length) }
}
