import { Effect } from "effect"
import { logText } from "./LogText.ts"
import type { RunRedactor } from "./RunRedactor.ts"

/** Maximum length of a line before it is split, in UTF-16 units. */
export const longestLine = 65_536

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff

/**
 * Splits text into lines at LF, CRLF and a lone CR (a progress bar that redraws itself), and splits longer lines into pieces of
 * at most `longestLine`. Pass it only redacted text, because a split could hide a secret from the redactor.
 */
export class LogLines {
  #pending = ""

  push(text: string): ReadonlyArray<string> {
    // Keep a CR at the end until the next character shows whether the CR is part of a CRLF.
    const parts = (this.#pending + text).split(/\r?\n|\r(?!$)/)
    this.#pending = parts.pop() ?? ""
    const lines = parts.flatMap((line) => pieces(line))
    if (this.#pending.length > longestLine) {
      const cut = pieces(this.#pending)
      this.#pending = cut.pop() ?? ""
      lines.push(...cut)
    }
    return lines
  }

  end(): ReadonlyArray<string> {
    const line = this.#pending.replace(/\r$/, "")
    this.#pending = ""
    return line === "" ? [] : [line]
  }
}

const pieces = (line: string): Array<string> => {
  const found: Array<string> = []
  let start = 0
  while (line.length - start > longestLine) {
    const end = start + longestLine
    const next = isHighSurrogate(line.charCodeAt(end - 1)) ? end - 1 : end
    found.push(line.slice(start, next))
    start = next
  }
  found.push(line.slice(start))
  return found
}

/**
 * Converts the raw output of a process to log lines: decoded, redacted across chunk and line boundaries, limited in length, and
 * safe to display.
 */
export interface TextReader {
  readonly push: (chunk: Uint8Array) => Effect.Effect<ReadonlyArray<string>>
  /** Returns the remaining lines at the end of the output. */
  readonly end: Effect.Effect<ReadonlyArray<string>>
}

export const textReader = (redactor: RunRedactor): Effect.Effect<TextReader> =>
  Effect.map(redactor.open, (redaction) => {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
    const lines = new LogLines()
    return {
      push: (chunk: Uint8Array) =>
        Effect.map(redaction.push(decoder.decode(chunk, { stream: true })), (text) => lines.push(text).map(logText)),
      end: Effect.suspend(() => redaction.end(decoder.decode())).pipe(
        Effect.map((text) => [...lines.push(text), ...lines.end()].map(logText))
      )
    }
  })
