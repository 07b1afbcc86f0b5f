import type { RedactionStream } from "./RedactionStream.ts"

/** A line without secrets; `undefined` when the mark of an earlier line stands for all of it. */
export type RedactedLine = string | undefined

/**
 * Redacts a text of which only the lines are known, one after another: a secret over several of them is one mark, in the first.
 * Whether a line was a whole one when it was printed need not be known. Gives each line as soon as no later one can change it.
 */
export class RedactionLines {
  readonly #stream: RedactionStream
  // Where each of the lines ends that were not given yet.
  #ends: Array<number> = []
  #end = 0

  constructor(stream: RedactionStream) {
    this.#stream = stream
  }

  /** The next lines that are decided, in order. */
  push(lines: ReadonlyArray<string>): ReadonlyArray<RedactedLine> {
    for (const line of lines) {
      this.#end += line.length + 1
      this.#ends.push(this.#end)
      this.#stream.feed(`${line}\n`)
    }
    return this.#take(this.#stream.decided())
  }

  /** All others; the text is over, or was broken off. */
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
