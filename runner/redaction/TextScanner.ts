import { firstIntroducer, rewriteTerminalText, unfinishedSequence } from "./AnsiSequences.ts"
import { noPosition, type Span } from "./FoldedText.ts"
import { LineText } from "./LineText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import type { Search } from "./TextLayer.ts"

/**
 * Finds the secrets in text that arrives in pieces, both with and without its terminal sequences. The time grows only with the
 * length of the text, and the result does not depend on its split.
 */
export class TextScanner {
  readonly #spans: Array<Span> = []
  readonly #search: Search
  readonly #shown: LineText
  // The text with its terminal sequences, from the first one on: an apparent sequence may remove part of a secret.
  #whole: LineText | undefined
  #position: number
  // The trailing part that may be an unfinished terminal sequence.
  #unfinished = ""

  /** `position` is the position of the first character. */
  constructor(automaton: PatternAutomaton, position: number) {
    this.#search = { automaton, spans: this.#spans }
    this.#shown = new LineText(this.#search, position)
    this.#position = position
  }

  /** Resets a finished scanner for another text. */
  restart(): void {
    this.#position = 0
    this.#shown.restart()
    this.#whole = undefined
    this.#spans.length = 0
  }

  push(piece: string): void {
    const first = this.#whole === undefined ? firstIntroducer(piece) : 0
    if (first > 0) this.#feed(piece.slice(0, first))
    if (first >= 0 && this.#whole === undefined) this.#whole = this.#beginWhole()
    this.#feed(first > 0 ? piece.slice(first) : piece)
  }

  end(): void {
    this.#show(this.#unfinished, this.#position - this.#unfinished.length)
    this.#unfinished = ""
    this.#shown.end()
    this.#whole?.end()
  }

  /** Everything before this position is decided. */
  open(): number {
    return Math.min(this.#position - this.#unfinished.length, this.#shown.open(), this.#whole?.open() ?? noPosition)
  }

  /** Start of the trailing part that, if a secret follows, would already reveal too much of it. */
  held(): number {
    return Math.min(this.#shown.held(), this.#whole?.held() ?? noPosition)
  }

  /** The origin of the secret that may begin at `held`, if known. */
  heldOrigin(position: number): string | undefined {
    return (this.#shown.held() === position ? this.#shown : this.#whole)?.heldOrigin(position)
  }

  /** Position where the last line of the text begins. */
  lineStart(): number {
    return this.#shown.lineStart()
  }

  /** Takes the findings that begin before a given position. */
  take(before: number): ReadonlyArray<Span> {
    if (this.#spans.length === 0) return []
    const taken = this.#spans.filter(({ start }) => start < before)
    const left = this.#spans.filter(({ start }) => start >= before)
    this.#spans.splice(0, this.#spans.length, ...left)
    return taken.sort((left, right) => left.start - right.start || right.end - left.end)
  }

  // Until the first sequence, both texts are identical.
  #beginWhole() {
    const text = new LineText(this.#search, this.#position)
    text.continueFrom(this.#shown)
    return text
  }

  #feed(piece: string): void {
    this.#whole?.text(piece, this.#position)
    const text = this.#unfinished + piece
    const complete = unfinishedSequence(text)
    this.#show(text.slice(0, complete), this.#position - this.#unfinished.length)
    this.#unfinished = text.slice(complete)
    this.#position += piece.length
  }

  #show(text: string, position: number): void {
    let at = position
    rewriteTerminalText(
      text,
      (plain) => {
        this.#shown.text(plain, at)
        at += plain.length
        return ""
      },
      (sequence) => {
        at += sequence.length
        return ""
      }
    )
  }
}
