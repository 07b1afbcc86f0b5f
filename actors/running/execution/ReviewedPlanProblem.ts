import { Result } from "effect"
import type { Run } from "../../../schema/records/Run.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/** The reason why an apply must not execute the reviewed plan. */
export interface PlanRefusal {
  readonly code: "plan_not_usable" | "superseded" | "tool_changed"
  readonly message: string
}

const refused = (code: PlanRefusal["code"], message: string) => Result.fail<PlanRefusal>({ code, message })

type Tool = Pick<NonNullable<Run["tool"]>, "name" | "version">

/**
 * Returns the reason why a plan from a different tool must not be applied. Only the tool that created a plan is guaranteed
 * to interpret the plan as it was reviewed.
 */
export const toolMoved = (madeWith: Tool | undefined, tool: Tool): string | undefined => {
  if (madeWith?.name === tool.name && madeWith.version === tool.version) return undefined
  const before = madeWith === undefined ? "an unknown tool" : `${madeWith.name} ${madeWith.version}`
  return `The plan was made with ${before}, and this service now runs ${tool.name} ${tool.version}. Plan again.`
}

interface PlanFacts<Plan> {
  readonly plan: Plan | undefined
  /** Describes the change to the operator's base configuration since the plan was created, if any. */
  readonly moved: string | undefined
  readonly madeWith: Tool | undefined
}

type ApprovedColumns = Pick<RunRow, "approved_at" | "used_by_run_id" | "status">

/** Returns the plan if it is approved for this apply. */
export const approvedPlan = <Plan extends ApprovedColumns>(
  applyId: RunRow["id"],
  plan: Plan | undefined
): Result.Result<Plan, PlanRefusal> =>
  plan === undefined || plan.approved_at === null || plan.used_by_run_id !== applyId || plan.status !== "succeeded"
    ? refused("plan_not_usable", "The plan is not approved for this apply.")
    : Result.succeed(plan)

/** Returns the plan if it is approved for this apply and nothing that it is based on has changed. */
export const reviewedPlan = <Plan extends ApprovedColumns>(
  applyId: RunRow["id"],
  tool: Tool,
  { madeWith, moved, plan }: PlanFacts<Plan>
): Result.Result<Plan, PlanRefusal> => {
  if (moved !== undefined) return Result.andThen(approvedPlan(applyId, plan), () => refused("superseded", moved))
  const otherTool = toolMoved(madeWith, tool)
  return Result.andThen(approvedPlan(applyId, plan), (approved) =>
    otherTool === undefined ? Result.succeed(approved) : refused("tool_changed", otherTool)
  )
}

/**
 * Returns the saved parts of the plan, provided that all of them exist. `hasBuild` is true if the archive of its source
 * build exists.
 */
export const savedPlan = <Saved extends { readonly build?: unknown }>(
  saved: Saved | undefined,
  planDigest: string | null,
  hasBuild: boolean
): Result.Result<Saved & { readonly planDigest: string }, PlanRefusal> => {
  if (saved === undefined || planDigest === null) {
    return refused("plan_not_usable", "The saved plan is gone. Plan again.")
  }
  return saved.build !== undefined && !hasBuild
    ? refused("plan_not_usable", "The source build of this plan no longer exists. Plan again.")
    : Result.succeed({ ...saved, planDigest })
}
