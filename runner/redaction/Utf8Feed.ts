import { noPosition } from "./FoldedText.ts"

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

/** Converts UTF-16 units to bytes; the two halves of a character may arrive in different pieces. */
export class Utf8Feed {
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
