import { firstIntroducer, rewriteTerminalText, unfinishedSequence } from "./AnsiSequences.ts"
import { noPosition, type Span } from "./FoldedText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import { DecodedText, type Search } from "./TextLayer.ts"

interface CharacterSink {
  readonly byte: (value: number, start: number, end: number) => void
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** Feeds the UTF-8 bytes of a character, each with the position of the whole character. */
const feedCharacter = (code: number, start: number, end: number, sink: CharacterSink): void => {
  if (code < 0x80) return sink.byte(code, start, end)
  if (code < 0x800) {
    sink.byte(0xc0 | (code >> 6), start, end)
  } else {
    if (code < 0x10000) {
      sink.byte(0xe0 | (code >> 12), start, end)
    } else {
      sink.byte(0xf0 | (code >> 18), start, end)
      sink.byte(0x80 | ((code >> 12) & 0x3f), start, end)
    }
    sink.byte(0x80 | ((code >> 6) & 0x3f), start, end)
  }
  sink.byte(0x80 | (code & 0x3f), start, end)
}

/** Turns UTF-16 units to bytes; the halves of a character may come in different pieces. */
class Utf8Feed {
  readonly #sink: CharacterSink
  #high: { readonly unit: number; readonly position: number } | undefined

  constructor(sink: CharacterSink) {
    this.#sink = sink
  }

  text(text: string, position: number): void {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit < 0x80 && this.#high === undefined) this.#sink.byte(unit, position + index, position + index + 1)
      else this.#unit(unit, position + index)
    }
  }

  end(): void {
    const high = this.#high
    this.#high = undefined
    if (high !== undefined) feedCharacter(0xfffd, high.position, high.position + 1, this.#sink)
  }

  open(): number {
    return this.#high?.position ?? noPosition
  }

  #unit(unit: number, position: number): void {
    const high = this.#high
    if (high !== undefined && isLow(unit)) {
      this.#high = undefined
      const code = 0x10000 + ((high.unit - 0xd800) << 10) + (unit - 0xdc00)
      return feedCharacter(code, high.position, position + 1, this.#sink)
    }
    this.end()
    if (isHigh(unit)) this.#high = { unit, position }
    else feedCharacter(isLow(unit) ? 0xfffd : unit, position, position + 1, this.#sink)
  }
}

/**
 * Finds the secrets of one text that arrives in pieces, with its terminal sequences and without them. Time grows with the text alone, and what is found does not depend on how the text was cut.
 */
export class TextScanner {
  readonly #spans: Array<Span> = []
  readonly #search: Search
  readonly #shown: DecodedText
  readonly #shownFeed: Utf8Feed
  // The text with its terminal sequences, from the first one on: what looks like one may take a piece out of a secret.
  #whole: { readonly text: DecodedText; readonly feed: Utf8Feed } | undefined
  #position: number
  // The end of the text so far that may be a terminal sequence that goes on.
  #unfinished = ""

  /** `position` is that of the first character. */
  constructor(automaton: PatternAutomaton, position: number) {
    this.#search = { automaton, spans: this.#spans }
    this.#shown = new DecodedText(this.#search, 0)
    this.#shownFeed = new Utf8Feed(this.#shown)
    this.#position = position
  }

  /** Makes a scanner that has reached the end of a text ready for another. */
  restart(): void {
    this.#position = 0
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
    this.#shownFeed.end()
    this.#whole?.feed.end()
    this.#shown.edge()
    this.#whole?.text.edge()
  }

  /** Everything before it is decided. */
  open(): number {
    return Math.min(
      this.#position - this.#unfinished.length,
      this.#shownFeed.open(),
      this.#shown.open(),
      this.#whole?.feed.open() ?? noPosition,
      this.#whole?.text.open() ?? noPosition
    )
  }

  /** Takes what was found and begins before a position. */
  take(before: number): ReadonlyArray<Span> {
    const taken = this.#spans.filter(({ start }) => start < before)
    const left = this.#spans.filter(({ start }) => start >= before)
    this.#spans.splice(0, this.#spans.length, ...left)
    return taken.sort((left, right) => left.start - right.start || right.end - left.end)
  }

  // Before the first sequence both are the same.
  #beginWhole() {
    const text = new DecodedText(this.#search, 0)
    text.continueFrom(this.#shown)
    return { text, feed: new Utf8Feed(text) }
  }

  #feed(piece: string): void {
    this.#whole?.feed.text(piece, this.#position)
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
        this.#shownFeed.text(plain, at)
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
