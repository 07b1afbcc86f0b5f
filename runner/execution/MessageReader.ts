import { Effect, Option } from "effect"
import type { RedactedLine } from "../redaction/RedactionLines.ts"
import type { RedactedLines, RunRedactor } from "../redaction/RunRedactor.ts"
import type { OutputLine } from "./MessageLines.ts"
import type { RunReport } from "./RunReport.ts"
import { parseToolMessage, type ToolMessage } from "./ToolMessage.ts"

/** A line of a tool's output, with secrets removed: its text, and the parsed message if it is one. */
export interface CleanLine {
  readonly text: string
  readonly message?: ToolMessage | undefined
}

/** A line in progress. */
interface Waiting {
  /** The group of lines that must remain in order. */
  readonly order: string | undefined
  /** Builds the line from the part that waited. */
  readonly line: (decided: string) => CleanLine
  /** `hidden`: a mark in an earlier line replaces this line. */
  state: "waiting" | "hidden" | CleanLine
}

/** Text that is printed line by line. */
interface Origin {
  readonly lines: RedactedLines
  readonly next: Array<Waiting>
  unsent: Array<string>
}

/** Reads the lines of a tool's output, and releases each line as soon as no later line can make it part of a secret. */
export interface MessageReader {
  readonly push: (lines: ReadonlyArray<OutputLine>) => Effect.Effect<ReadonlyArray<CleanLine>>
  /** Releases all remaining lines. */
  readonly end: Effect.Effect<ReadonlyArray<CleanLine>>
}

// The order group of lines without a resource.
const toolItself = ""
const provisionerKey = (address: string, provisioner: string) => JSON.stringify([address, provisioner])

const readLine = ({ cut, text }: OutputLine): CleanLine => ({
  text: cut ? `${text} (cut)` : text,
  message: cut ? undefined : Option.getOrUndefined(parseToolMessage(text))
})

/** The part of a line that belongs to a longer text, and the identity of that text. */
const streamed = ({ message, text }: CleanLine): { readonly key: string; readonly text: string } | undefined => {
  if (message === undefined) return { key: toolItself, text }
  if (message._tag === "Text")
    return message.address === undefined ? { key: toolItself, text: message.text } : undefined
  if (message._tag !== "Provisioner" || message.output === undefined || !message.text.endsWith(message.output))
    return undefined
  return { key: provisionerKey(message.address, message.provisioner), text: message.output }
}

const orderOf = (message: ToolMessage | undefined): string | undefined => {
  if (message === undefined) return toolItself
  if (message._tag === "Diagnostic" || message._tag === "EmergencyState") return undefined
  return message.address ?? toolItself
}

/**
 * Hides secrets in a tool's output even across messages: the output of each provisioner of a resource is treated as one text, and
 * everything else that the tool prints as another. A line that may begin a secret waits for the following lines, together with
 * later messages about the same resource; other messages do not wait.
 */
export const messageReader = (report: RunReport, redactor: RunRedactor): MessageReader => {
  const origins = new Map<string, Origin>()
  let waiting: Array<Waiting> = []

  const opened = Effect.fnUntraced(function* (key: string) {
    const known = origins.get(key)
    if (known !== undefined) return known
    const lines = yield* redactor.openLines
    const origin: Origin = origins.get(key) ?? { lines, next: [], unsent: [] }
    origins.set(key, origin)
    return origin
  })

  const settle = (origin: Origin, decided: ReadonlyArray<RedactedLine>) => {
    for (const text of decided) {
      const entry = origin.next.shift()
      if (entry !== undefined) entry.state = text === undefined ? "hidden" : entry.line(text)
    }
  }

  const send = Effect.fnUntraced(function* (origin: Origin) {
    if (origin.unsent.length === 0) return
    const texts = origin.unsent
    origin.unsent = []
    settle(origin, yield* origin.lines.push(texts))
  })

  const close = Effect.fnUntraced(function* (key: string) {
    const origin = origins.get(key)
    if (origin === undefined) return
    origins.delete(key)
    yield* send(origin)
    settle(origin, yield* origin.lines.end)
  })

  /** The texts that are complete once this message arrives. */
  const ended = (message: ToolMessage | undefined): ReadonlyArray<string> => {
    if (message?._tag === "Provisioner" && message.output === undefined) {
      return [provisionerKey(message.address, message.provisioner)]
    }
    if (message?._tag !== "Resource" || message.moment === "progress") return []
    const ofResource = JSON.stringify([message.address]).slice(0, -1)
    return [...origins.keys()].filter((key) => key.startsWith(`${ofResource},`))
  }

  const accept = Effect.fnUntraced(function* (raw: CleanLine, cleaned: ToolMessage | undefined) {
    for (const key of ended(raw.message)) yield* close(key)
    const piece = streamed(raw)
    const order = orderOf(raw.message)
    if (piece === undefined) {
      waiting.push({ order, line: (text) => ({ text }), state: { text: cleaned?.text ?? "", message: cleaned } })
      return
    }
    const before = cleaned?._tag === "Provisioner" ? cleaned.text : ""
    const entry: Waiting = {
      order,
      line: (decided) => {
        const text = before + decided
        return { text, message: cleaned === undefined ? undefined : { ...cleaned, text } }
      },
      state: "waiting"
    }
    const origin = yield* opened(piece.key)
    origin.next.push(entry)
    origin.unsent.push(piece.text)
    waiting.push(entry)
  })

  const released = (): ReadonlyArray<CleanLine> => {
    const blocked = new Set<string>()
    const lines: Array<CleanLine> = []
    waiting = waiting.filter(({ order, state }) => {
      const isHeld = state === "waiting" || (order !== undefined && blocked.has(order))
      if (isHeld && order !== undefined) blocked.add(order)
      else if (typeof state !== "string") lines.push(state)
      return isHeld
    })
    return lines
  }

  return {
    push: Effect.fnUntraced(function* (lines: ReadonlyArray<OutputLine>) {
      const read = lines.map(readLine)
      const cleaned = yield* report.cleanMessages(
        read.flatMap(({ message }) => (message === undefined ? [] : [message]))
      )
      let next = 0
      for (const line of read) yield* accept(line, line.message === undefined ? undefined : cleaned[next++])
      for (const origin of origins.values()) yield* send(origin)
      return released()
    }),
    end: Effect.gen(function* () {
      for (const key of origins.keys()) yield* close(key)
      return released()
    })
  }
}
