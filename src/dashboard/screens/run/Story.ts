import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import type { Run, RunApprovals, RunComment, RunEvent } from "../../api/Types.ts"

/** A line in the history of a Run, other than a comment. Without a `subject`, svc itself acted. */
export interface StoryEvent {
  readonly kind:
    | "queued"
    | "planned"
    | "approved"
    | "applied"
    | "askedToStop"
    | "cancelled"
    | "discarded"
    | "approval_withdrawn"
    | "superseded"
    | "expired"
    | "failed"
    | "finished"
  readonly at: string
  readonly subject?: string | undefined
  readonly reason?: string | undefined
  /** The Run that applied the plan. */
  readonly runId?: string | undefined
}

export type StoryLine = StoryEvent | { readonly kind: "comment"; readonly at: string; readonly comment: RunComment }

interface Told {
  readonly run: Run
  readonly events: ReadonlyArray<Pick<RunEvent, "at" | "kind">>
  readonly approvals: RunApprovals["approvals"]
  /** The Run that applied this plan. */
  readonly apply: Pick<Run, "createdAt" | "createdBy" | "id"> | undefined
  readonly comments: ReadonlyArray<RunComment>
}

const approvalsOf = ({ approvals, run }: Told): ReadonlyArray<StoryEvent> => {
  if (approvals.length > 0) {
    return approvals.map(({ approver, comment, createdAt }) => ({
      kind: "approved",
      at: createdAt,
      subject: approver === "service" ? undefined : approver,
      reason: comment
    }))
  }
  return run.approvedAt === undefined
    ? []
    : [{ kind: "approved", at: run.approvedAt, subject: run.approvedBy, reason: run.approvalComment }]
}

/** Returns the events of a Run and people's comments, oldest first. */
export const storyOf = (told: Told): ReadonlyArray<StoryLine> => {
  const { apply, comments, events, run } = told
  const lines: Array<StoryLine> = [{ kind: "queued", at: run.createdAt, subject: run.createdBy }]
  const planned = events.findLast(({ kind }) => kind === "run.waiting_approval")
  if (planned !== undefined) lines.push({ kind: "planned", at: planned.at })
  lines.push(...approvalsOf(told))
  if (apply !== undefined) {
    lines.push({ kind: "applied", at: apply.createdAt, subject: apply.createdBy, runId: apply.id })
  }
  if (run.cancelRequest !== undefined) lines.push({ kind: "askedToStop", ...run.cancelRequest })
  if (run.endedBy !== undefined) lines.push(run.endedBy)
  else if (run.finishedAt !== undefined && run.status === "failed") {
    lines.push({ kind: "failed", at: run.finishedAt, reason: run.error?.message })
  } else if (run.finishedAt !== undefined && run.status === "succeeded" && !isPlan(run.type)) {
    lines.push({ kind: "finished", at: run.finishedAt })
  }
  lines.push(...comments.map((comment) => ({ kind: "comment" as const, at: comment.createdAt, comment })))
  return lines.toSorted((one, other) => one.at.localeCompare(other.at))
}
