import { firstIntroducer, rewriteTerminalText, unfinishedSequence } from "./AnsiSequences.ts"
import { noPosition, type Span } from "./FoldedText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import { SecretMatcher } from "./SecretMatcher.ts"
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
 * Finds the secrets of one text that arrives in pieces: as it stands, and without its terminal sequences also in every
 * encoding. Time grows with the text alone, and what is found does not depend on how the text was cut.
 */
export class TextScanner {
  readonly #spans: Array<Span> = []
  readonly #search: Search
  readonly #original: SecretMatcher
  readonly #originalFeed: Utf8Feed
  readonly #shown: DecodedText
  readonly #shownFeed: Utf8Feed
  // From the first terminal sequence on: an encoding that what looks like one takes a piece out of.
  #whole: { readonly text: DecodedText; readonly feed: Utf8Feed } | undefined
  #position: number
  // The end of the text so far that may be a terminal sequence that goes on.
  #unfinished = ""

  /** `position` is that of the first character. */
  constructor(automaton: PatternAutomaton, position: number) {
    this.#search = { automaton, spans: this.#spans }
    this.#original = new SecretMatcher(automaton, this.#spans, false)
    this.#originalFeed = new Utf8Feed(this.#original)
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
    this.#originalFeed.text(piece, this.#position)
    this.#pushWhole(piece)
    const text = this.#unfinished + piece
    const complete = unfinishedSequence(text)
    this.#show(text.slice(0, complete), this.#position - this.#unfinished.length)
    this.#unfinished = text.slice(complete)
    this.#position += piece.length
  }

  end(): void {
    this.#show(this.#unfinished, this.#position - this.#unfinished.length)
    this.#unfinished = ""
    this.#originalFeed.end()
    this.#shownFeed.end()
    this.#whole?.feed.end()
    this.#original.edge()
    this.#shown.edge()
    this.#whole?.text.edge()
  }

  /** Everything before it is decided. */
  open(): number {
    return Math.min(
      this.#position - this.#unfinished.length,
      this.#originalFeed.open(),
      this.#shownFeed.open(),
      this.#original.open(),
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

  // No match begins before the first sequence and goes on in it, so nothing before it has to be read again.
  #pushWhole(piece: string): void {
    if (this.#whole !== undefined) return this.#whole.feed.text(piece, this.#position)
    const first = firstIntroducer(piece)
    if (first < 0) return
    const text = new DecodedText(this.#search, 0)
    const feed = new Utf8Feed(text)
    this.#whole = { text, feed }
    feed.text(piece.slice(first), this.#position + first)
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
