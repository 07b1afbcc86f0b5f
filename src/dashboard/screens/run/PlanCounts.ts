import type { Run } from "../../api/Types.ts"
import { changeKind, type ChangeKind, riskOrder } from "./PlanDiff.ts"

/** The kinds of changes that an apply can make. */
export type DoneKind = Exclude<ChangeKind, "none" | "read">

export interface KindCount {
  readonly kind: DoneKind
  readonly count: number
}

const isDone = (kind: ChangeKind): kind is DoneKind => kind !== "none" && kind !== "read"

/**
 * The changes of a plan by kind, with dangerous kinds first. For a plan without recorded changes, returns the counts in its
 * summary.
 */
export const countsOf = ({
  planSummary,
  resourceChanges
}: Pick<Run, "planSummary" | "resourceChanges">): ReadonlyArray<KindCount> => {
  const counts = new Map<ChangeKind, number>()
  const add = (kind: ChangeKind, count: number) => counts.set(kind, (counts.get(kind) ?? 0) + count)
  if (resourceChanges !== undefined && resourceChanges.length > 0)
    for (const change of resourceChanges) add(changeKind(change), 1)
  else if (planSummary !== undefined) {
    add("create", planSummary.add)
    add("update", planSummary.change)
    add("destroy", planSummary.destroy)
    add("replace", planSummary.replace)
    add("import", planSummary.import)
    add("forget", planSummary.forget)
  }
  return riskOrder.flatMap((kind) => {
    const count = counts.get(kind) ?? 0
    return count > 0 && isDone(kind) ? [{ kind, count }] : []
  })
}
