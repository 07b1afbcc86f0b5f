import type { RedactionStream } from "./RedactionStream.ts"

/** A redacted line, or `undefined` if the mark in an earlier line covers all of it. */
export type RedactedLine = string | undefined

/**
 * Redacts text that arrives line by line. Replaces a secret that spans several lines with one mark in the first of these
 * lines, even if a line was printed in several pieces. Releases each line as soon as no later line can change it.
 */
export class RedactionLines {
  readonly #stream: RedactionStream
  // End positions of the lines that have not been released yet.
  #ends: Array<number> = []
  #end = 0

  constructor(stream: RedactionStream) {
    this.#stream = stream
  }

  /** Adds lines. Returns the lines that no later line can change, in order. */
  push(lines: ReadonlyArray<string>): ReadonlyArray<RedactedLine> {
    for (const line of lines) {
      this.#end += line.length + 1
      this.#ends.push(this.#end)
      this.#stream.feed(`${line}\n`)
    }
    return this.#take(this.#stream.decided())
  }

  /** Returns all remaining lines. Call it when the text is complete or was cut off. */
  end(): ReadonlyArray<RedactedLine> {
    this.#stream.endFeed(true)
    return this.#take(this.#end)
  }

  #take(until: number): ReadonlyArray<RedactedLine> {
    const found: Array<RedactedLine> = []
    for (const end of this.#ends) {
      if (end > until) break
      const isCovered = this.#stream.covers(end - 1)
      const shown = this.#stream.take(end)
      found.push(isCovered ? undefined : shown.endsWith("\n") ? shown.slice(0, -1) : shown)
    }
    this.#ends.splice(0, found.length)
    return found
  }
}
