import { hasTerminalSequence, isGraphicRendition, terminalSequences } from "./AnsiSequences.ts"
import type { Span } from "./FoldedText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import { redactionMarkOf } from "./RedactionMark.ts"
import { TextScanner } from "./TextScanner.ts"

// Only a flood of terminal sequences within one secret reaches it.
const longestPending = 32_768
// What tells where a token begins when the text is read again for more secrets.
const longestContext = 64

/**
 * Redacts one text that arrives in pieces. What comes out is the same however the text was cut. A secret is found as
 * it stands, and also when terminal sequences are scattered in it. Holds back only an end that could still become a
 * secret, and the terminal sequences in it.
 */
export class RedactionStream {
  readonly #automaton: () => PatternAutomaton
  readonly #shortest: number
  #current: PatternAutomaton
  #scanner: TextScanner
  // Positions count from the beginning of the whole text. `#pending` begins at `#written`.
  #pending = ""
  #written = 0
  #context = ""
  // Where the last mark ends.
  #covered = -1

  /** Of what is found, only what is at least `shortest` characters long is hidden. */
  constructor(automaton: () => PatternAutomaton, shortest = 0, scanner?: TextScanner) {
    this.#automaton = automaton
    this.#shortest = shortest
    this.#current = automaton()
    this.#scanner = scanner ?? new TextScanner(this.#current, 0)
  }

  /** The text so far that no later piece can change. */
  push(piece: string): string {
    this.#followSecrets()
    this.#scanner.push(piece)
    this.#pending += piece
    const end = this.#written + this.#pending.length
    return this.#advance(Math.max(this.#written, Math.min(end, this.#scanner.open()), end - longestPending))
  }

  /** The rest of the text; the stream is done. */
  end(rest = ""): string {
    this.#followSecrets()
    this.#scanner.push(rest)
    this.#scanner.end()
    this.#pending += rest
    return this.#advance(this.#written + this.#pending.length)
  }

  // Reads again what is held back, so that it is found as well.
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

  // Colours that a secret was wrapped in would otherwise run on behind the mark.
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
    for (const span of this.#scanner.take(keep)) if (span.end > this.#written) cover(span)
    output += this.#text(at, keep)
    this.#context = (this.#context + this.#text(this.#written, keep)).slice(-longestContext)
    this.#pending = this.#pending.slice(keep - this.#written)
    this.#written = keep
    return output
  }
}
