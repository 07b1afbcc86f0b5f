import { Effect, Stream } from "effect"
import { logText } from "./LogText.ts"
import type { RunRedactor } from "./RunRedactor.ts"

/** Longest line that is kept in one piece, in UTF-16 units. */
export const longestLine = 65_536

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff

/**
 * Cuts text into lines at LF, CRLF and a lone CR (a progress bar that redraws itself), and a longer line into pieces of
 * at most `longestLine`. Feed it text that is redacted already: then no cut can hide a secret from the redactor.
 */
export class LogLines {
  #pending = ""

  push(text: string): ReadonlyArray<string> {
    // A last CR waits for its LF.
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

/** Raw output of a process to log lines: decoded, redacted across the borders of chunks, capped, made safe to show. */
export const redactedLines =
  (redactor: RunRedactor) =>
  <E, R>(output: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
    Stream.unwrap(
      Effect.map(redactor.open, (redaction) => {
        const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
        const lines = new LogLines()
        const rest = Effect.suspend(() => redaction.end(decoder.decode())).pipe(
          Effect.map((text) => [...lines.push(text), ...lines.end()].map(logText))
        )
        return output.pipe(
          Stream.mapEffect((chunk) => redaction.push(decoder.decode(chunk, { stream: true }))),
          Stream.flatMap((text) => Stream.fromIterable(lines.push(text).map(logText))),
          Stream.concat(Stream.fromIterableEffect(rest))
        )
      })
    )
