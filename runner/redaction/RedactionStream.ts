import { hasTerminalSequence, isGraphicRendition, terminalSequences } from "./AnsiSequences.ts"
import type { Span } from "./FoldedText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import { redactionMarkOf } from "./RedactionMark.ts"
import { TextScanner } from "./TextScanner.ts"

/**
 * Maximum amount of text to hold back, in UTF-16 units. If more text than this may be part of a secret, the text is hidden
 * as if it were a secret.
 */
export const longestHeld = 32_768
// Amount of context to keep. It is enough to find the beginning of a token when text is searched again for new secrets.
const longestContext = 64

/**
 * Redacts text that arrives in pieces. The result does not depend on how the text is split. Finds secrets even if they contain
 * terminal sequences. Holds back only a suffix that may still become a secret; after a complete line, only a suffix that already
 * contains 6 characters of a secret.
 */
export class RedactionStream {
  readonly #automaton: () => PatternAutomaton
  readonly #shortest: number
  #current: PatternAutomaton
  #scanner: TextScanner
  // Positions are relative to the beginning of the complete text. `#pending` begins at `#written`.
  #pending = ""
  #written = 0
  #context = ""
  // End position of the last mark.
  #covered = -1
  // Hidden parts that are not complete secrets.
  #broken: Array<Span> = []

  /** Creates a stream that hides only findings of at least `shortest` characters. */
  constructor(automaton: () => PatternAutomaton, shortest = 0, scanner?: TextScanner) {
    this.#automaton = automaton
    this.#shortest = shortest
    this.#current = automaton()
    this.#scanner = scanner ?? new TextScanner(this.#current, 0)
  }

  /** Adds a piece. Returns the part of the text that no later piece can change. */
  push(piece: string): string {
    this.feed(piece)
    return this.take(this.decided())
  }

  /**
   * Ends the stream and returns the rest of the text. If the text may have been cut off, also hides a suffix that contains 6
   * characters of a secret.
   */
  end(rest = "", brokenOff = false): string {
    this.feed(rest)
    this.endFeed(brokenOff)
    return this.take(this.#end())
  }

  feed(piece: string): void {
    this.#followSecrets()
    this.#scanner.push(piece)
    this.#pending += piece
  }

  endFeed(brokenOff: boolean): void {
    if (brokenOff) this.#hideHeld()
    this.#scanner.end()
  }

  /** Returns the position before which no later text can change the result. */
  decided(): number {
    const end = this.#end()
    const open = this.#scanner.open()
    const lineStart = this.#scanner.lineStart()
    const decided = open < lineStart ? Math.min(this.#scanner.held(), lineStart) : Math.min(open, end)
    if (end - decided <= longestHeld) return Math.max(this.#written, decided)
    this.#hideHeld()
    return end
  }

  /** Returns the text up to a given position. */
  take(until: number): string {
    return this.#advance(Math.max(this.#written, until))
  }

  /** Returns true if the last mark covers the text up to a given position. */
  covers(until: number): boolean {
    return this.#covered >= until
  }

  #end(): number {
    return this.#written + this.#pending.length
  }

  #hideHeld(): void {
    const start = this.#scanner.held()
    if (start < this.#end()) {
      this.#broken.push({ start, end: this.#end(), origin: this.#scanner.heldOrigin(start) ?? "" })
    }
  }

  // Reads the held-back text again, to find newly added secrets in it.
  #followSecrets(): void {
    const automaton = this.#automaton()
    if (automaton === this.#current) return
    this.#current = automaton
    this.#scanner = new TextScanner(automaton, this.#written - this.#context.length)
    this.#scanner.push(this.#context + this.#pending)
  }

  #text(start: number, end: number): string {
    return this.#pending.slice(start - this.#written, end - this.#written)
  }

  // Resets any colours that begin inside a secret, because they would otherwise continue after the mark.
  #colours(covered: string): string {
    if (!hasTerminalSequence(covered)) return ""
    const isHarmless = (sequence: string) => {
      if (!isGraphicRendition(sequence)) return false
      const scanner = new TextScanner(this.#current, 0)
      scanner.push(sequence)
      scanner.end()
      return scanner.take(sequence.length).length === 0
    }
    return [...terminalSequences(covered)]
      .map(([sequence]) => sequence)
      .filter(isHarmless)
      .join("")
  }

  #advance(keep: number): string {
    let output = ""
    let at = this.#written
    const swallow = () => {
      const until = Math.min(this.#covered, keep)
      if (until <= at) return
      output += this.#colours(this.#text(at, until))
      at = until
    }
    swallow()
    const cover = ({ end, origin, start }: Span) => {
      if (end - start < this.#shortest) return
      if (end <= at && end <= this.#covered) return
      if (start > this.#covered) {
        const from = Math.max(start, at)
        output += this.#text(at, from) + redactionMarkOf(origin)
        at = from
      }
      this.#covered = Math.max(this.#covered, end)
      swallow()
    }
    const broken = this.#broken
    this.#broken = []
    const found = this.#scanner.take(keep)
    const spans = broken.length === 0 ? found : [...found, ...broken].sort((left, right) => left.start - right.start)
    for (const span of spans) if (span.end > this.#written) cover(span)
    output += this.#text(at, keep)
    this.#context = (this.#context + this.#text(this.#written, keep)).slice(-longestContext)
    this.#pending = this.#pending.slice(keep - this.#written)
    this.#written = keep
    return output
  }
}
