import { type ByteSink, foldedClass, noPosition, quoteClass as quote } from "./FoldedText.ts"

/** A sink that is also notified of each backslash that only quotes the next character. */
export interface DecodedSink extends ByteSink {
  readonly skipped: (start: number, end: number) => void
}

const backslash = 0x5c
const percent = 0x25
const ampersand = 0x26
const semicolon = 0x3b
// Maximum number of consecutive backslashes. Each further level of quoting doubles their number.
const mostBackslashes = 64
const longestEntity = 10

/** Returns true if a byte may begin an escape. Bytes before the first such byte need no decoding. */
export const beginsEscape = (value: number): boolean => value === backslash || value === percent || value === ampersand

const hexadecimal = new Int8Array(256).fill(-1)
for (let value = 0; value < 256; value++) {
  const digit = /^[0-9a-f]$/i.test(String.fromCharCode(value)) ? Number.parseInt(String.fromCharCode(value), 16) : -1
  hexadecimal[value] = digit
}
const hexValue = (value: number): number => hexadecimal[value] ?? -1

const simple: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: 10, r: 13, t: 9, v: 11, f: 12, b: 8 }).map(([name, value]) => [name.charCodeAt(0), value])
)
const codeLengths: ReadonlyMap<number, number> = new Map([
  [0x78, 2],
  [0x75, 4],
  [0x55, 8]
])
const entities: ReadonlyMap<string, number> = new Map(
  Object.entries({ amp: 38, lt: 60, gt: 62, quot: 34, apos: 39, nbsp: 32 })
)

const isAlphanumeric = (value: number) =>
  (value >= 0x30 && value <= 0x39) || (value >= 0x41 && value <= 0x5a) || (value >= 0x61 && value <= 0x7a)
const isOctal = (value: number) => value >= 0x30 && value <= 0x37
const utf8 = new TextEncoder()

const entityCode = (name: string): number | undefined => {
  const decimal = /^#([0-9]{1,7})$/.exec(name)?.[1]
  const hex = /^#[xX]([0-9a-fA-F]{1,6})$/.exec(name)?.[1]
  const code = decimal === undefined ? (hex === undefined ? undefined : Number.parseInt(hex, 16)) : Number(decimal)
  return code === undefined ? entities.get(name) : code <= 0x10ffff ? code : undefined
}

/**
 * Decodes the escapes of JSON, Go, Python, YAML, shells, XML and URLs in one pass, however deeply they are nested: the result of
 * an escape is read again together with the bytes after it. Secrets are decoded in the same way, so a secret that looks like
 * an escape is also found.
 */
export class EscapeDecoder implements ByteSink {
  readonly #sink: DecodedSink
  // Bytes of an incomplete escape, and their positions.
  #bytes: Array<number> = []
  #starts: Array<number> = []
  #ends: Array<number> = []
  // First half of a character that JSON writes as two escapes.
  #high: { readonly code: number; readonly start: number; readonly end: number } | undefined

  constructor(sink: DecodedSink) {
    this.#sink = sink
  }

  byte(value: number, start: number, end: number): void {
    if (value === 0) return
    switch (this.#bytes[0]) {
      case undefined:
        if (beginsEscape(value)) this.#hold(value, start, end)
        else this.#emit(value, start, end)
        return
      case backslash:
        return this.#afterBackslash(value, start, end)
      case percent:
        return this.#afterPercent(value, start, end)
      default:
        return this.#afterAmpersand(value, start, end)
    }
  }

  edge(): void {
    while (this.#bytes.length > 0) this.#reject()
    this.#loneHigh()
    this.#sink.edge()
  }

  /** Returns the start of an incomplete escape. */
  open(): number {
    return Math.min(this.#starts[0] ?? noPosition, this.#high?.start ?? noPosition)
  }

  #afterBackslash(value: number, start: number, end: number): void {
    const run = { start: this.#starts[0] ?? start, end: this.#ends[0] ?? end }
    const letter = this.#bytes[1]
    if (letter !== undefined) return this.#afterLetter(letter, value, start, end)
    if (value === backslash) {
      if (end - run.start > mostBackslashes) this.#starts[0] = start
      this.#ends[0] = end
      return
    }
    if (codeLengths.has(value) || isOctal(value)) return this.#hold(value, start, end)
    const meaning = simple.get(value)
    if (meaning !== undefined) return this.#decoded(meaning, end)
    if (isAlphanumeric(value)) {
      this.#reject()
      return this.byte(value, start, end)
    }
    this.#release()
    if (foldedClass(value) !== quote || value === percent) this.#sink.skipped(run.start, run.end)
    this.byte(value, run.start, end)
  }

  #afterLetter(letter: number, value: number, start: number, end: number): void {
    const length = codeLengths.get(letter)
    if (length === undefined ? !isOctal(value) : hexValue(value) < 0) {
      this.#reject()
      return this.byte(value, start, end)
    }
    this.#hold(value, start, end)
    const digits = this.#bytes.slice(length === undefined ? 1 : 2)
    if (digits.length < (length ?? 3)) return
    const code = Number.parseInt(String.fromCharCode(...digits), length === undefined ? 8 : 16)
    if (length === undefined || length === 2) return this.#decoded(code & 0xff, end)
    this.#codePoint(code, end)
  }

  #afterPercent(value: number, start: number, end: number): void {
    if (hexValue(value) < 0) {
      this.#reject()
      return this.byte(value, start, end)
    }
    const first = this.#bytes[1]
    if (first === undefined) this.#hold(value, start, end)
    else this.#decoded(hexValue(first) * 16 + hexValue(value), end)
  }

  #afterAmpersand(value: number, start: number, end: number): void {
    const code = value === semicolon ? entityCode(String.fromCharCode(...this.#bytes.slice(1))) : undefined
    if (code !== undefined) return this.#codePoint(code, end)
    if (value !== semicolon && this.#bytes.length < longestEntity && (isAlphanumeric(value) || value === 0x23)) {
      return this.#hold(value, start, end)
    }
    this.#reject()
    this.byte(value, start, end)
  }

  /** Processes the result of an escape, which may begin another escape. */
  #decoded(value: number, end: number): void {
    this.byte(value, this.#release(), end)
  }

  #codePoint(code: number, end: number): void {
    const start = this.#release()
    const high = this.#high
    if (code >= 0xdc00 && code <= 0xdfff && high !== undefined && high.end === start) {
      this.#high = undefined
      return this.#character(String.fromCharCode(high.code, code), high.start, end)
    }
    if (code >= 0xd800 && code <= 0xdbff) {
      this.#loneHigh()
      this.#high = { code, start, end }
      return
    }
    this.#character(code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd", start, end)
  }

  #character(character: string, start: number, end: number): void {
    for (const value of utf8.encode(character)) this.byte(value, start, end)
  }

  #hold(value: number, start: number, end: number): void {
    this.#bytes.push(value)
    this.#starts.push(start)
    this.#ends.push(end)
  }

  #release(): number {
    const start = this.#starts[0] ?? 0
    this.#bytes = []
    this.#starts = []
    this.#ends = []
    return start
  }

  /** Handles collected bytes that turn out not to be an escape: the first byte is literal, and the others are read again. */
  #reject(): void {
    const [bytes, starts, ends] = [this.#bytes, this.#starts, this.#ends]
    this.#release()
    this.#emit(bytes[0] ?? 0, starts[0] ?? 0, ends[0] ?? 0)
    for (let index = 1; index < bytes.length; index++) {
      this.byte(bytes[index] ?? 0, starts[index] ?? 0, ends[index] ?? 0)
    }
  }

  #loneHigh(): void {
    const high = this.#high
    if (high === undefined) return
    this.#high = undefined
    for (const value of utf8.encode("\ufffd")) this.#sink.byte(value, high.start, high.end)
  }

  #emit(value: number, start: number, end: number): void {
    if (this.#high !== undefined) this.#loneHigh()
    this.#sink.byte(value, start, end)
  }
}
