import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import type { FoldedRun, Run } from "../../api/Types.ts"

/** A change to a Capsule: its plan, its apply, and the checks of the resulting state. */
export interface HistoryLine {
  readonly run: Run
  readonly apply?: FoldedRun
  /** Newest first. Includes only the checks between this successful apply and the next successful one. */
  readonly checks: ReadonlyArray<Run>
}

const isApply = ({ type }: FoldedRun): boolean => type === "apply" || type === "destroy_apply"
const isCheck = ({ status, type }: Run): boolean => type === "drift_check" && status === "succeeded"

/**
 * Returns the lines of the list of changes, newest first. A drift check is attached to the change that produced the checked
 * state, which is the next change below the check.
 */
export const historyLines = (
  runs: ReadonlyArray<Run>,
  folded: ReadonlyArray<FoldedRun>
): ReadonlyArray<HistoryLine> => {
  const applies = new Map(folded.filter(isApply).map((apply) => [apply.planRunId, apply]))
  const lines: Array<HistoryLine> = []
  let checks: ReadonlyArray<Run> = []
  for (const run of runs) {
    if (isCheck(run)) {
      checks = [...checks, run]
      continue
    }
    const apply = applies.get(run.id)
    const left = apply?.status === "succeeded" || (run.type === "restore" && run.status === "succeeded")
    lines.push({ run, ...(apply === undefined ? {} : { apply }), checks: left ? checks : [] })
    if (left) checks = []
  }
  // Checks whose change is on a later page.
  return [...lines, ...checks.map((run) => ({ run, checks: [] }))]
}

/** Returns the newest check that found drift, or else the newest check. */
export const tellingCheck = (checks: ReadonlyArray<Run>): Run | undefined =>
  checks.find(({ drifted }) => drifted === true) ?? checks[0]

/** Returns true if somebody decided on the change. If so, the approver is shown, or a note that there was no approver. */
export const isDecided = ({ run, apply }: HistoryLine): boolean =>
  isPlan(run.type) && (run.approvedAt !== undefined || apply !== undefined)
