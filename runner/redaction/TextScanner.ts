import { firstIntroducer, rewriteTerminalText, unfinishedSequence } from "./AnsiSequences.ts"
import { type LeftOutBreaks, noPosition, type Span } from "./FoldedText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import { DecodedText, type Search } from "./TextLayer.ts"
import { Buffer } from "node:buffer"

/** A byte in a column of a dump, and its position in the line. */
interface ColumnByte {
  readonly value: number
  readonly index: number
}

interface Column {
  readonly text: string
  readonly index: number
}

/** Parses a column: returns its bytes in order, or `undefined` for any other text. */
type Reading = (text: string) => ReadonlyArray<number> | undefined

/** Maximum length of a line of a dump. Longer lines are not decoded. */
const longestDumpLine = 320

const offset = /^([0-9a-fA-F]{6,16})(:?)(?= |$)/
/** Matches the start of the column, such as `|...|` or `>...<`, that shows the bytes as characters. */
const framed = /\s{2}[|>]/

const firstColumn = /^\s+-?[0-9a-fA-F]{1,22}(?:\s|$)/

const isOneOf =
  (...lengths: ReadonlyArray<number>) =>
  (text: string) =>
    lengths.includes(text.length)
const isWord = isOneOf(2, 4, 8, 16)
const octalLengths: ReadonlyMap<number, number> = new Map([
  [3, 1],
  [6, 2],
  [11, 4],
  [22, 8]
])

const hexBytes: Reading = (text) =>
  isWord(text) && /^[0-9a-f]+$/i.test(text) ? [...Buffer.from(text, "hex")] : undefined

const littleEndian = (value: bigint, bytes: number): ReadonlyArray<number> =>
  Array.from({ length: bytes }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))

const decimal =
  (bytes: number, digits: number): Reading =>
  (text) =>
    /^-?\d+$/.test(text) && text.length <= digits
      ? littleEndian(BigInt.asUintN(8 * bytes, BigInt(text)), bytes)
      : undefined

const readings: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ["hex", hexBytes],
  ["hex, last byte first", (text) => hexBytes(text)?.toReversed()],
  [
    "octal",
    (text) => {
      const bytes = octalLengths.get(text.length)
      return bytes === undefined || !/^[0-7]+$/.test(text) ? undefined : littleEndian(BigInt(`0o${text}`), bytes)
    }
  ],
  ["decimal", decimal(1, 4)],
  ["decimal words", decimal(2, 6)],
  ["binary", (text) => (/^[01]{8}$/.test(text) ? [Number.parseInt(text, 2)] : undefined)]
])

const escapes: ReadonlyMap<string, number> = new Map(
  Object.entries({
    "\\0": 0,
    "\\a": 7,
    "\\b": 8,
    "\\t": 9,
    "\\n": 10,
    "\\v": 11,
    "\\f": 12,
    "\\r": 13,
    sp: 32,
    nl: 10,
    ht: 9,
    cr: 13
  })
)
const cellWidth = 4

/**
 * Parses the output of `od -c`, `od -a` and `hexdump -c`: each byte takes four columns, and appears as an escape, a name,
 * three octal digits, or a character in the last of the four columns.
 */
const characters = (body: string, from: number): ReadonlyArray<ColumnByte> | undefined => {
  const found: Array<ColumnByte> = []
  for (let at = 0; at < body.length; at += cellWidth) {
    const cell = body.slice(at, at + cellWidth)
    const text = cell.trim()
    const index = from + at
    const named = escapes.get(text)
    if (named !== undefined) found.push({ value: named, index })
    else if (text === "") found.push({ value: 0x20, index })
    else if (/^ [0-7]{3}$/.test(cell)) found.push({ value: Number.parseInt(text, 8) & 0xff, index })
    else if (text === "**") continue
    else if (/^ {3}[^ ]/.test(cell)) for (const value of Buffer.from(text)) found.push({ value, index })
    else return undefined
  }
  return found
}

/** Returns true if a text may be a line of a dump, or the beginning of one. */
const mayBeDump = (line: string): boolean => /^(?:[ \t]|[0-9a-fA-F]{6}|[0-9a-fA-F]{1,5}$)/.test(line)

/** Returns the bytes in a line of a dump, for each possible interpretation. Returns an empty map for other lines. */
const dumpColumns = (line: string): ReadonlyMap<string, ReadonlyArray<ColumnByte>> => {
  const found = new Map<string, ReadonlyArray<ColumnByte>>()
  const [, digits = "", colon = ""] = offset.exec(line) ?? []
  if (!mayBeDump(line) || (digits === "" && !/^[ \t]/.test(line))) return found
  const from = digits.length + colon.length
  const body = line.slice(from)
  const shown = colon === "" ? body.search(framed) : body.indexOf("  ", 1)
  const text = colon === "" ? characters(body, from) : undefined
  if (text !== undefined && text.length > 0) found.set("characters", text)
  if (!firstColumn.test(body)) return found
  const columns: ReadonlyArray<Column> = [...(shown < 0 ? body : body.slice(0, shown)).matchAll(/\S+/g)].map(
    ({ 0: text, index }) => ({ text, index: from + index })
  )
  for (const [name, read] of readings) {
    const bytes: Array<ColumnByte> = []
    const isRead = columns.every(({ index, text }) => {
      const values = read(text)
      for (const value of values ?? []) bytes.push({ value, index })
      return values !== undefined
    })
    if (isRead && bytes.length > 0) found.set(name, bytes)
  }
  return found
}

interface CharacterSink {
  readonly byte: (value: number, start: number, end: number) => void
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** Passes on the UTF-8 bytes of a character, each with the position of the complete character. */
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

/** Converts UTF-16 to bytes. The two halves of a character may arrive in different pieces. */
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

/** Decodes the bytes that a dump (`xxd`, `od`, `hexdump`) represents, for each possible interpretation. */
class DumpText {
  readonly #search: Search
  // Treats every match as spanning a line break, because the columns themselves have no line breaks.
  readonly #breaks: LeftOutBreaks = { last: noPosition }
  readonly #readings = new Map<string, DecodedText>()
  #open: ReadonlySet<string> = new Set()

  constructor(search: Search) {
    this.#search = search
  }

  /**
   * Processes one complete line. If the line contains part of a secret, hides the rest of the line as well, because a dump
   * shows every byte twice.
   */
  line(text: string, position: number): void {
    const columns = dumpColumns(text)
    const end = position + text.length
    for (const reading of this.#open) if (!columns.has(reading)) this.#readings.get(reading)?.edge()
    for (const [name, bytes] of columns) {
      const reading = this.#readings.get(name) ?? new DecodedText(this.#search, 1, this.#breaks)
      this.#readings.set(name, reading)
      for (const { index, value } of bytes) reading.byte(value, position + index, end)
    }
    this.#open = new Set(columns.keys())
  }

  edge(): void {
    for (const name of this.#open) this.#readings.get(name)?.edge()
    this.#open = new Set()
  }

  open(): number {
    return this.#least((reading) => reading.open())
  }

  held(pending: number): number {
    return this.#least((reading) => reading.held(pending))
  }

  heldOrigin(position: number, pending: number): string | undefined {
    const found = [...this.#readings.values()].find((reading) => reading.held(pending) === position)
    return found?.heldOrigin(position, pending)
  }

  #least(of: (reading: DecodedText) => number): number {
    return [...this.#readings.values()].reduce((position, reading) => Math.min(position, of(reading)), noPosition)
  }
}

interface Part {
  readonly text: string
  readonly position: number
}

// Number of characters fed to the joined match between two checks of whether a match from before the line break can still
// continue.
const stride = 8

const isBlank = (text: string, index: number) => {
  const unit = text.charCodeAt(index)
  return unit === 0x20 || unit === 0x09
}

/**
 * Matches text that consists of lines, both as it is and as if its line breaks were absent. Programs wrap their output, and
 * a tool that relays output line by line does not show whether a line was complete. After a line break, matching stops as
 * soon as no match from before the line break can continue. Lines of a dump are decoded column by column.
 */
class LineText {
  readonly #search: Search
  readonly #text: DecodedText
  readonly #feed: Utf8Feed
  readonly #breaks: LeftOutBreaks = { last: noPosition }
  #joined: { readonly text: DecodedText; readonly feed: Utf8Feed } | undefined
  #isJoined = false
  // Trailing whitespace of the joined text, which is part of the text only if the line continues.
  #blanks: Part | undefined
  #dump: DumpText | undefined
  #line: Array<Part> = []
  #lineStart: number

  /** `position` is the position of the first character. */
  constructor(search: Search, position: number) {
    this.#search = search
    this.#text = new DecodedText(search, 0)
    this.#feed = new Utf8Feed(this.#text)
    this.#lineStart = position
  }

  text(text: string, position: number): void {
    let from = 0
    let nextReturn = text.indexOf("\r")
    let nextFeed = text.indexOf("\n")
    while (nextReturn >= 0 || nextFeed >= 0) {
      const at = nextFeed < 0 || (nextReturn >= 0 && nextReturn < nextFeed) ? nextReturn : nextFeed
      this.#take(text.slice(from, at), position + from)
      this.#endLine(position + at)
      this.#feed.text(text.slice(at, at + 1), position + at)
      this.#lineStart = position + at + 1
      from = at + 1
      if (at === nextReturn) nextReturn = text.indexOf("\r", from)
      else nextFeed = text.indexOf("\n", from)
    }
    if (from < text.length) this.#take(from === 0 ? text : text.slice(from), position + from)
  }

  /** Continues matching from the position of another text. Restarts the decoders. */
  continueFrom(other: LineText): void {
    this.#text.continueFrom(other.#text)
    this.#lineStart = other.#lineStart
    if (!other.#isJoined || other.#joined === undefined) return
    this.#isJoined = true
    this.#breaks.last = other.#breaks.last
    this.#joining().text.continueFrom(other.#joined.text)
  }

  end(): void {
    this.#readDump()
    this.#dump?.edge()
    this.#feed.end()
    this.#text.edge()
    if (this.#isJoined) this.#part()
    this.#line = []
  }

  /** Resets the state for another text, starting at 0. */
  restart(): void {
    this.#lineStart = 0
  }

  open(): number {
    const joined = this.#isJoined ? this.#joined : undefined
    return Math.min(
      this.#feed.open(),
      this.#text.open(),
      joined?.feed.open() ?? noPosition,
      joined?.text.open() ?? noPosition,
      this.#dump?.open() ?? noPosition,
      this.#mayBeDump() ? this.#lineStart : noPosition
    )
  }

  held(): number {
    return this.#sources().reduce((position, source) => Math.min(position, source.held(0)), noPosition)
  }

  heldOrigin(position: number): string | undefined {
    return this.#sources()
      .find((source) => source.held(0) === position)
      ?.heldOrigin(position, 0)
  }

  lineStart(): number {
    return this.#lineStart
  }

  #sources(): ReadonlyArray<Pick<DecodedText, "held" | "heldOrigin">> {
    const joined = this.#isJoined && this.#joined !== undefined ? [this.#joined.text] : []
    return [this.#text, ...joined, ...(this.#dump === undefined ? [] : [this.#dump])]
  }

  #joining() {
    if (this.#joined === undefined) {
      const text = new DecodedText(this.#search, 0, this.#breaks)
      this.#joined = { text, feed: new Utf8Feed(text) }
    }
    return this.#joined
  }

  #take(text: string, position: number): void {
    if (text === "") return
    this.#feed.text(text, position)
    if (this.#isJoined) this.#join(text, position, this.#line.length === 0)
    this.#line.push({ text, position })
  }

  #endLine(position: number): void {
    // Keep a line while a match that began in it may continue.
    const open = Math.min(this.#feed.open(), this.#text.open())
    if (!this.#isJoined && open < position) {
      this.#isJoined = true
      this.#breaks.last = position
      this.#joining()
      for (const { position: start, text } of this.#line) {
        const from = Math.max(0, open - start)
        if (from < text.length) this.#feedJoined(text.slice(from), start + from)
      }
    }
    this.#breaks.last = position
    this.#blanks = undefined
    this.#readDump()
    this.#line = []
  }

  #join(text: string, position: number, isFirst: boolean): void {
    let from = 0
    if (isFirst) while (from < text.length && isBlank(text, from)) from++
    for (; this.#isJoined && from < text.length; from += stride) {
      this.#feedJoined(text.slice(from, from + stride), position + from)
      const { feed, text: joined } = this.#joining()
      // Stop if no match that began before the line break can continue.
      if (Math.min(feed.open(), joined.open()) >= this.#breaks.last) this.#part()
    }
  }

  #part(): void {
    this.#isJoined = false
    this.#blanks = undefined
    const { feed, text } = this.#joining()
    feed.end()
    text.edge()
  }

  #feedJoined(text: string, position: number): void {
    const { feed } = this.#joining()
    let end = text.length
    while (end > 0 && isBlank(text, end - 1)) end--
    if (end > 0) {
      if (this.#blanks !== undefined) feed.text(this.#blanks.text, this.#blanks.position)
      feed.text(text.slice(0, end), position)
      this.#blanks = undefined
    }
    if (end === text.length) return
    this.#blanks = {
      text: (this.#blanks?.text ?? "") + text.slice(end),
      position: this.#blanks?.position ?? position + end
    }
  }

  #mayBeDump(): boolean {
    const [first] = this.#line
    return (
      first !== undefined &&
      mayBeDump(first.text) &&
      this.#line.reduce((length, { text }) => length + text.length, 0) <= longestDumpLine
    )
  }

  #readDump(): void {
    const [first] = this.#line
    if (first === undefined || !this.#mayBeDump()) {
      this.#dump?.edge()
      return
    }
    const isWhole = this.#line.every(({ position, text }, index) => {
      const next = this.#line[index + 1]
      return next === undefined || next.position === position + text.length
    })
    if (!isWhole) return
    this.#dump ??= new DumpText(this.#search)
    this.#dump.line(this.#line.map(({ text }) => text).join(""), first.position)
  }
}

/**
 * Finds the secrets in text that arrives in pieces, both with and without its terminal sequences. The time is proportional
 * to the length of the text, and the result does not depend on how the text is split.
 */
export class TextScanner {
  readonly #spans: Array<Span> = []
  readonly #search: Search
  readonly #shown: LineText
  // The text with its terminal sequences, from the first sequence on. This text is also matched, because an apparent
  // sequence may be part of a secret.
  #whole: LineText | undefined
  #position: number
  // A suffix that may be an unfinished terminal sequence.
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

  /** Returns the position before which no later text can change the result. */
  open(): number {
    return Math.min(this.#position - this.#unfinished.length, this.#shown.open(), this.#whole?.open() ?? noPosition)
  }

  /** Returns the start of the suffix that would reveal too much if it turned out to be a secret. */
  held(): number {
    return Math.min(this.#shown.held(), this.#whole?.held() ?? noPosition)
  }

  /** Returns the origin of the secret that may begin at the position returned by `held`, if the origin is known. */
  heldOrigin(position: number): string | undefined {
    return (this.#shown.held() === position ? this.#shown : this.#whole)?.heldOrigin(position)
  }

  /** Returns the position where the last line begins. */
  lineStart(): number {
    return this.#shown.lineStart()
  }

  /** Removes and returns the findings that begin before a given position. */
  take(before: number): ReadonlyArray<Span> {
    if (this.#spans.length === 0) return []
    const taken = this.#spans.filter(({ start }) => start < before)
    const left = this.#spans.filter(({ start }) => start >= before)
    this.#spans.splice(0, this.#spans.length, ...left)
    return taken.sort((left, right) => left.start - right.start || right.end - left.end)
  }

  // Begins to match the text with its terminal sequences. Before the first sequence, this text is identical to the displayed
  // text.
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
