import { Effect } from "effect"
import { type LogStream, longestEventText, type RunPhase } from "../../schema/events/RunEvent.ts"
import type { PlanSummary } from "../../schema/records/PlanDetails.ts"
import type { RunDiagnostic } from "../../schema/records/Run.ts"
import { LogLines } from "../redaction/LogLines.ts"
import { logText, plainText } from "../redaction/LogText.ts"
import { type Hide, redacted, type RunRedactor } from "../redaction/RunRedactor.ts"
import type { RunSink } from "./RunSink.ts"
import type { ServerPaths } from "./ServerPaths.ts"
import type { ToolMessage } from "./ToolMessage.ts"

const cutMark = " (cut)"

/**
 * The only path from a program's output to the sink. Redacts everything, removes this machine's paths, and escapes the rest for
 * display.
 */
export interface RunReport {
  readonly clean: (text: string) => Effect.Effect<string>
  /** Cleans a batch of messages. Strips the command output from provisioner messages and keeps only the prefix. */
  readonly cleanMessages: (messages: ReadonlyArray<ToolMessage>) => Effect.Effect<ReadonlyArray<ToolMessage>>
  readonly phase: (phase: RunPhase) => Effect.Effect<void>
  readonly log: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void>
  /** Expects text that has already been cleaned. */
  readonly print: (phase: RunPhase, stream: LogStream, text: string) => Effect.Effect<void>
  /** Expects a message that has already been cleaned. */
  readonly resource: (message: Extract<ToolMessage, { _tag: "Resource" }>) => Effect.Effect<void>
  /** Expects a diagnostic that has already been cleaned. */
  readonly diagnostic: (diagnostic: RunDiagnostic) => Effect.Effect<void>
  readonly planSummary: (summary: PlanSummary) => Effect.Effect<void>
}

const shortened = (text: string) =>
  text.length > longestEventText ? `${text.slice(0, longestEventText - cutMark.length)}${cutMark}` : text
/** Redacts a text and shortens it for events and messages. */
export const shownText = (text: string) => shortened(plainText(text))

// Redacts all texts of a diagnostic in one step, to find secrets that are split across several texts.
const cleanDiagnostic = (hide: Hide, { severity, summary, detail, address, path, line }: RunDiagnostic) => ({
  severity,
  summary: shownText(hide.part(detail === undefined ? [summary] : [summary, detail], 0)),
  ...(detail === undefined ? {} : { detail: shownText(hide.part([summary, detail], 1)) }),
  ...(address === undefined ? {} : { address: shownText(hide.address(address)) }),
  ...(path === undefined ? {} : { path: shownText(hide.text(path)) }),
  ...(line === undefined ? {} : { line })
})

const cleanMessage = (hide: Hide, message: ToolMessage): ToolMessage => {
  switch (message._tag) {
    case "Text":
      return { ...message, text: hide.message(message.text, message.address) }
    case "EmergencyState":
      return message
    case "Provisioner": {
      const { address, output, text } = message
      const isWhole = output === undefined || !text.endsWith(output)
      return {
        ...message,
        text: hide.message(isWhole ? text : text.slice(0, text.length - output.length), address),
        output: undefined
      }
    }
    case "Diagnostic":
      return { ...message, text: hide.part([message.text], 0), diagnostic: cleanDiagnostic(hide, message.diagnostic) }
    case "Resource": {
      const { address, id, text } = message
      return {
        ...message,
        text: hide.message(text, address),
        address: shownText(hide.address(address)),
        id: id === undefined ? undefined : shownText(hide.text(id))
      }
    }
  }
}

const withoutPaths = (hide: Hide, { shown }: ServerPaths): Hide => ({
  ...hide,
  text: (text) => shown(hide.text(text)),
  name: (name) => shown(hide.name(name)),
  address: (address) => shown(hide.address(address)),
  message: (text, address) => shown(hide.message(text, address)),
  part: (parts, index) => shown(hide.part(parts, index))
})

export const runReport = (sink: RunSink, redactor: RunRedactor, paths: ServerPaths): RunReport => {
  const cleaned = <A>(render: (hide: Hide) => A) => redacted(redactor, (hide) => render(withoutPaths(hide, paths)))
  const print = (phase: RunPhase, stream: LogStream, text: string) =>
    Effect.forEach(new LogLines().push(`${text}\n`), (line) => sink.log(phase, stream, logText(line)), {
      discard: true
    })
  return {
    clean: (text) => cleaned((hide) => shownText(hide.text(text))),
    cleanMessages: (messages) =>
      messages.length === 0
        ? Effect.succeed([])
        : cleaned((hide) => messages.map((message) => cleanMessage(hide, message))),
    phase: (phase) => sink.event("run.phase", { phase }),
    log: (phase, stream, text) =>
      Effect.flatMap(
        cleaned((hide) => hide.text(text)),
        (shown) => print(phase, stream, shown)
      ),
    print,
    resource: ({ moment, address, action, id, elapsedSeconds }) =>
      sink.event(`resource.${moment}`, {
        address,
        action,
        ...(id === undefined ? {} : { id }),
        ...(elapsedSeconds === undefined ? {} : { elapsedSeconds })
      }),
    diagnostic: (diagnostic) => sink.event("diagnostic", diagnostic),
    planSummary: (summary) => sink.event("plan.summary", summary)
  }
}
