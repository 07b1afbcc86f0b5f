import { Stream } from "effect"
import { logText } from "./LogText.ts"
import type { Redactor } from "./Redactor.ts"

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
  (redactor: Redactor) =>
  <E, R>(output: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
    Stream.mapAccum(
      output,
      () => ({
        decoder: new TextDecoder("utf-8", { ignoreBOM: true }),
        redaction: redactor.stream(),
        lines: new LogLines()
      }),
      (state, chunk) => {
        const text = state.decoder.decode(chunk, { stream: true })
        return [state, state.lines.push(state.redaction.push(text)).map(logText)]
      },
      {
        onHalt: ({ decoder, redaction, lines }) => {
          const rest = lines.push(redaction.push(decoder.decode()) + redaction.end())
          return [...rest, ...lines.end()].map(logText)
        }
      }
    )
