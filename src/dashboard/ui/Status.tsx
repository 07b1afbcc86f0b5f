import { useCallback } from "react"
import { isPlan } from "../../../schema/records/RunTransitions.ts"
import type { Capsule, Connection, Run, Source } from "../api/Types.ts"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { driftWords } from "./DriftWords.ts"

export type StatusTone = "neutral" | "busy" | "attention" | "good" | "bad" | "muted"

/** A coloured dot and a word. The word alone is sufficient. */
export const Status = ({ tone, children }: { readonly tone: StatusTone; readonly children: string }) => (
  <span className={`status status-${tone}`}>
    <span className="status-dot" aria-hidden="true" />
    {children}
  </span>
)

const runTone: Readonly<Record<Run["status"], StatusTone>> = {
  queued: "neutral",
  running: "busy",
  waiting_approval: "attention",
  succeeded: "good",
  failed: "bad",
  cancelled: "muted",
  superseded: "muted",
  expired: "muted"
}

type Standing = Pick<Run, "status" | "type" | "approvedAt" | "drifted">

/** The status of a Run, as shown to people. Neither an approved plan nor a check that found drift is shown as a success. */
export const useRunStatus = (): ((run: Standing) => readonly [StatusTone, string]) => {
  const words = useWords(vocabulary)
  const drift = useWords(driftWords)
  return useCallback(
    (run) => {
      if (run.type === "drift_check" && run.status === "succeeded" && run.drifted !== undefined)
        return run.drifted ? ["attention", drift.found] : ["good", drift.none]
      const approved = run.approvedAt !== undefined && isPlan(run.type) && run.status === "succeeded"
      return [runTone[run.status], approved ? words.planApproved : words.runStatus[run.status]]
    },
    [words, drift]
  )
}

export const RunStatus = ({ run }: { readonly run: Standing }) => {
  const [tone, text] = useRunStatus()(run)
  return <Status tone={tone}>{text}</Status>
}

const capsuleTone: Readonly<Record<Capsule["status"], StatusTone>> = {
  pending: "neutral",
  active: "good",
  stale: "attention",
  error: "bad",
  disabled: "muted",
  destroyed: "muted",
  released: "muted"
}

export const CapsuleStatus = ({ status }: { readonly status: Capsule["status"] }) => (
  <Status tone={capsuleTone[status]}>{useWords(vocabulary).capsuleStatus[status]}</Status>
)

const driftTone: Readonly<Record<Capsule["driftStatus"], StatusTone>> = {
  unknown: "muted",
  none: "neutral",
  drifted: "attention"
}

export const DriftStatus = ({ status }: { readonly status: Capsule["driftStatus"] }) => (
  <Status tone={driftTone[status]}>{useWords(vocabulary).drift[status]}</Status>
)

const connectionTone: Readonly<Record<Connection["status"], StatusTone>> = {
  pending: "neutral",
  verified: "good",
  expired: "attention",
  revoked: "muted",
  error: "bad",
  unconfirmed: "attention"
}

export const ConnectionStatus = ({ status }: { readonly status: Connection["status"] }) => (
  <Status tone={connectionTone[status]}>{useWords(vocabulary).connectionStatus[status]}</Status>
)

const sourceTone: Readonly<Record<Source["status"], StatusTone>> = { active: "good", disabled: "muted", error: "bad" }

export const SourceStatus = ({ status }: { readonly status: Source["status"] }) => (
  <Status tone={sourceTone[status]}>{useWords(vocabulary).sourceStatus[status]}</Status>
)
