import { Effect } from "effect"
import type { LogStream, RunPhase } from "../../schema/events/RunEvent.ts"
import type { PlanSummary, RunDiagnostic } from "../../schema/records/Run.ts"
import { LogLines } from "../redaction/LogLines.ts"
import { logText, plainText } from "../redaction/LogText.ts"
import type { Redactor } from "../redaction/Redactor.ts"
import type { RunSink } from "./RunSink.ts"
import type { ToolMessage } from "./ToolMessage.ts"

const longestText = 16 * 1024

/** The only way from a program's output to the sink: everything that passes is redacted and made safe to show. */
export interface RunReport {
  readonly clean: (text: string) => string
  readonly cleanDiagnostic: (diagnostic: RunDiagnostic) => RunDiagnostic
  readonly phase: (phase: RunPhase) => Effect.Effect<void>
  readonly log: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void>
  readonly resource: (message: Extract<ToolMessage, { _tag: "Resource" }>) => Effect.Effect<void>
  /** Takes a cleaned one. */
  readonly diagnostic: (diagnostic: RunDiagnostic) => Effect.Effect<void>
  readonly planSummary: (summary: PlanSummary) => Effect.Effect<void>
  readonly stateSaved: (saved: { readonly serial: number; readonly resourceCount: number }) => Effect.Effect<void>
}

const shortened = (text: string) => (text.length > longestText ? `${text.slice(0, longestText)} (cut)` : text)

export const runReport = (sink: RunSink, redactor: Redactor): RunReport => {
  const clean = (text: string) => shortened(plainText(redactor.text(text)))
  return {
    clean,
    cleanDiagnostic: ({ severity, summary, detail, address, path, line }) => ({
      severity,
      summary: clean(summary),
      ...(detail === undefined ? {} : { detail: clean(detail) }),
      ...(address === undefined ? {} : { address: clean(address) }),
      ...(path === undefined ? {} : { path: clean(path) }),
      ...(line === undefined ? {} : { line })
    }),
    phase: (phase) => sink.event("run.phase", { phase }),
    log: (phase, stream, text) =>
      Effect.forEach(
        new LogLines().push(`${redactor.text(text)}\n`),
        (line) => sink.log(phase, stream, logText(line)),
        {
          discard: true
        }
      ),
    resource: ({ moment, address, action, id, elapsedSeconds }) =>
      sink.event(`resource.${moment}`, {
        address: clean(address),
        action,
        ...(id === undefined ? {} : { id: clean(id) }),
        ...(elapsedSeconds === undefined ? {} : { elapsedSeconds })
      }),
    diagnostic: (diagnostic) => sink.event("diagnostic", { ...diagnostic }),
    planSummary: (summary) => sink.event("plan.summary", { ...summary }),
    stateSaved: (saved) => sink.event("state.saved", { ...saved, final: false })
  }
}
