/** The facts that decide whether the log of a Run may be removed. */
export interface KeptLog {
  /** When its last line was written; none while more lines may follow. */
  readonly endedAt: string | null
  /** The Run is in a final status. */
  readonly isOver: boolean
  /** It is a plan that can still be approved or applied. */
  readonly isPendingPlan: boolean
  /** It is the apply that wrote the Capsule's current state, or that apply's plan. */
  readonly madeCurrentState: boolean
  /** No later Run of its Capsule or Source explains the current situation. */
  readonly isNewest: boolean
  /** It left a state that has been neither adopted nor discarded. */
  readonly leftState: boolean
}

export type LogKeptReason = "open" | "young" | "pending_plan" | "current_state" | "newest" | "left_over_state"

/** Why a log is kept; `undefined` for one that may be removed. Logs that ended after `before` are kept. */
export const logKeptReason = (log: KeptLog, before: string): LogKeptReason | undefined => {
  if (log.endedAt === null || !log.isOver) return log.isPendingPlan ? "pending_plan" : "open"
  if (log.endedAt >= before) return "young"
  if (log.isPendingPlan) return "pending_plan"
  if (log.leftState) return "left_over_state"
  if (log.madeCurrentState) return "current_state"
  return log.isNewest ? "newest" : undefined
}
