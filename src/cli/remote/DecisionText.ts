import type { Run } from "../../../schema/records/Run.ts"
import type { RunEndKind } from "../../../schema/records/RunDecision.ts"
import { timeText } from "./Rows.ts"
import { terminalText } from "./TerminalText.ts"

const ends: Readonly<Record<RunEndKind, string>> = {
  cancelled: "Cancelled",
  discarded: "Discarded",
  approval_withdrawn: "Approval withdrawn",
  superseded: "Superseded",
  expired: "Expired"
}

interface Decision {
  readonly at?: string | undefined
  readonly reason?: string
  readonly subject?: string
}

const named = ({ at, reason, subject }: Decision, nameOf: (subject: string) => string): Decision => ({
  ...(at === undefined ? {} : { at }),
  ...(reason === undefined ? {} : { reason }),
  ...(subject === undefined ? {} : { subject: nameOf(subject) })
})

const decisionLine = (what: string, { at, reason, subject }: Decision): string => {
  const time = timeText(at)
  const when = time === undefined ? "" : ` at ${time}`
  return `${what} by ${subject ?? "svc"}${when}${reason === undefined ? "." : `: ${terminalText(reason)}`}`
}

/** Lists the people who approved, ended or stopped a Run, with the time and the reason. */
export const decisionLines = (
  { approvalComment, approvedAt, approvedBy, cancelRequest, endedBy, status }: Run,
  nameOf: (subject: string) => string
): ReadonlyArray<string> => [
  ...(approvedAt === undefined
    ? []
    : [
        decisionLine("Approved", {
          at: approvedAt,
          ...(approvedBy === undefined ? {} : { subject: nameOf(approvedBy) }),
          ...(approvalComment === undefined ? {} : { reason: approvalComment })
        })
      ]),
  // Omit the request to stop if the Run has been cancelled, because the line about its cancellation contains the same
  // information.
  ...(cancelRequest === undefined || status === "cancelled"
    ? []
    : [decisionLine("Asked to stop", named(cancelRequest, nameOf))]),
  ...(endedBy === undefined ? [] : [decisionLine(ends[endedBy.kind], named(endedBy, nameOf))])
]
