import { type Piece, stripAnsi } from "./Ansi.ts"
import type { LogLine } from "./LogBuffer.ts"

interface Lines {
  readonly length: number
  readonly line: (index: number) => LogLine | undefined
}

/** A row on the screen: a line, or a part of a line that continues in the next row. */
export interface LogRow {
  /** Index of the line. */
  readonly index: number
  readonly part: number
}

const unusual = /[^ -~]/
const tabWidth = 4

// East Asian characters and emoji take two columns.
const widthOf = (character: string): number => {
  if (character === "\t") return tabWidth
  return (character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1
}

/** Returns where the next row starts, given that a row starts at `start` and each character takes one column. */
const plainBreak = (text: string, start: number, columns: number): number => {
  const end = start + columns
  const space = text.lastIndexOf(" ", end - 1)
  // A row never consists of indentation alone, and text without spaces may be broken anywhere.
  return space > start && text.slice(start, space).trim() !== "" ? space + 1 : end
}

/** The start positions of a text's rows for this number of columns. Rows break after a space, and within a word that is too long. */
export const rowStarts = (text: string, columns: number): ReadonlyArray<number> => {
  const starts = [0]
  if (!unusual.test(text)) {
    for (let start = 0; text.length - start > columns; ) {
      start = plainBreak(text, start, columns)
      starts.push(start)
    }
    return starts
  }
  let start = 0
  let used = 0
  let at = 0
  // The position after the row's last space, and the number of columns up to that position.
  let word = { at: 0, used: 0 }
  for (const character of text) {
    const width = widthOf(character)
    if (used + width > columns && used > 0) {
      const breaksAtWord = word.at > start && text.slice(start, word.at).trim() !== ""
      start = breaksAtWord ? word.at : at
      used = breaksAtWord ? used - word.used : 0
      word = { at: start, used: 0 }
      starts.push(start)
    }
    used += width
    at += character.length
    if (character === " " || character === "\t") word = { at, used }
  }
  return starts
}

/** The part of a coloured text between two positions in its plain text. */
export const piecesBetween = (pieces: ReadonlyArray<Piece>, from: number, to: number): ReadonlyArray<Piece> => {
  const found: Array<Piece> = []
  let at = 0
  for (const { className, text } of pieces) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at))
    if (part !== "") found.push({ text: part, className })
    at += text.length
  }
  return found
}

/**
 * The rows of a growing log. They all have the same height, so that a long log is rendered as fast as a short one. With
 * `columns`, a longer line takes several rows. `only` filters lines. Adding new lines takes time linear in the number of new
 * lines.
 */
export class LogRows {
  readonly #lines: Lines
  readonly #columns: number | undefined
  readonly #only: ((line: LogLine) => boolean) | undefined
  readonly #shown: Array<number> = []
  /** The index of the first row of each visible line. */
  readonly #first: Array<number> = []
  #read = 0
  #count = 0

  constructor(lines: Lines, columns: number | undefined, only?: (line: LogLine) => boolean) {
    this.#lines = lines
    this.#columns = columns
    this.#only = only
  }

  /** The number of rows of the current log. */
  count(): number {
    for (; this.#read < this.#lines.length; this.#read += 1) {
      const line = this.#lines.line(this.#read)
      if (line === undefined || this.#only?.(line) === false) continue
      this.#shown.push(this.#read)
      this.#first.push(this.#count)
      this.#count += this.#columns === undefined ? 1 : rowStarts(stripAnsi(line.text), this.#columns).length
    }
    return this.#count
  }

  at(row: number): LogRow | undefined {
    const place = this.#before(this.#first, row)
    const index = this.#shown[place]
    return index === undefined ? undefined : { index, part: row - (this.#first[place] ?? 0) }
  }

  /** Returns the first row of a line or, if the line is hidden, the first row of the last visible line before it. */
  rowOf(index: number): number {
    return this.#first[Math.max(0, this.#before(this.#shown, index))] ?? 0
  }

  /** Returns the index of the last number that is not greater than the given number. */
  #before(numbers: ReadonlyArray<number>, wanted: number): number {
    let low = 0
    let high = numbers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((numbers[middle] ?? 0) <= wanted) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}
