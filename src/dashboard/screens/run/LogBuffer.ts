import type { LogEntry } from "../../api/Types.ts"
import { stripAnsi } from "./Ansi.ts"

type LogLevel = "plain" | "warning" | "error"

// The patterns allow for the bar that some tools print before the text to draw a box.
const error = /^(?:[│╷|] ?)*(?:Error: |panic: |fatal error: )/
const warning = /^(?:[│╷|] ?)*Warning: /
const continued = /^(?:[│╵|]| {2}|\t)/

/** Returns true if this line starts a diagnostic. */
const startsDiagnostic = (text: string): boolean => error.test(stripAnsi(text))

/** The severity of a line. Indented lines after the first line of a diagnostic belong to it. */
const levelOf = (text: string, before: LogLevel): LogLevel => {
  const plain = stripAnsi(text)
  if (error.test(plain)) return "error"
  if (warning.test(plain)) return "warning"
  return before !== "plain" && continued.test(plain) ? before : "plain"
}

export interface LogLine {
  /** Line number in the whole log, counting from 1. People can quote this number. */
  readonly number: number
  readonly at: string
  readonly phase: string
  readonly stream: LogEntry["stream"]
  readonly text: string
  readonly level: LogLevel
}

/**
 * The lines of a growing log. An entry may contain several lines. `\r\n` ends a line like `\n`, and a `\r` without `\n`
 * discards the line's text so far. Appending takes linear time in the length of the appended text.
 */
export class LogBuffer {
  private readonly lines: Array<LogLine> = []
  private readonly errorLines: Array<number> = []

  append(entries: ReadonlyArray<LogEntry>): void {
    for (const entry of entries) {
      const text = entry.text.endsWith("\n") ? entry.text.slice(0, -1) : entry.text
      for (const raw of text.split("\n")) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw
        const overwritten = line.lastIndexOf("\r")
        const shown = overwritten < 0 ? line : line.slice(overwritten + 1)
        const level = levelOf(shown, this.lines.at(-1)?.level ?? "plain")
        if (level === "error" && startsDiagnostic(shown)) this.errorLines.push(this.lines.length)
        this.lines.push({
          number: this.lines.length + 1,
          at: entry.at,
          phase: entry.phase,
          stream: entry.stream,
          text: shown,
          level
        })
      }
    }
  }

  /** Indexes of the first lines of errors. */
  get errors(): ReadonlyArray<number> {
    return this.errorLines
  }

  get length(): number {
    return this.lines.length
  }

  line(index: number): LogLine | undefined {
    return this.lines[index]
  }

  /** The whole log as plain text without colours, for saving. */
  plainText(): string {
    return this.lines.map((line) => `${line.at} ${stripAnsi(line.text)}\n`).join("")
  }
}
