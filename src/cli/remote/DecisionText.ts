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

const decisionLine = (
  what: string,
  { at, reason, subject }: { readonly at?: string | undefined; readonly reason?: string; readonly subject?: string }
): string => {
  const time = timeText(at)
  const when = time === undefined ? "" : ` at ${time}`
  return `${what} by ${subject ?? "svc"}${when}${reason === undefined ? "." : `: ${terminalText(reason)}`}`
}

/** The people who approved, ended or stopped a Run, with the time and the reason. */
export const decisionLines = ({
  approvalComment,
  approvedAt,
  approvedBy,
  cancelRequest,
  endedBy,
  status
}: Run): ReadonlyArray<string> => [
  ...(approvedAt === undefined
    ? []
    : [
        decisionLine("Approved", {
          at: approvedAt,
          ...(approvedBy === undefined ? {} : { subject: approvedBy }),
          ...(approvalComment === undefined ? {} : { reason: approvalComment })
        })
      ]),
  // Once the Run is cancelled, its end has the same.
  ...(cancelRequest === undefined || status === "cancelled" ? [] : [decisionLine("Asked to stop", cancelRequest)]),
  ...(endedBy === undefined ? [] : [decisionLine(ends[endedBy.kind], endedBy)])
]
