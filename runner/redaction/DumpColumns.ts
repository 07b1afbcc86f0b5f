import { Buffer } from "node:buffer"

/** A byte that a column of a dump represents, and the column's position in the line. */
interface ColumnByte {
  readonly value: number
  readonly index: number
}

interface Column {
  readonly text: string
  readonly index: number
}

/** Parses a column: its bytes in text order; undefined for anything else. */
type Reading = (text: string) => ReadonlyArray<number> | undefined

/** Longer than any line of a dump; longer lines are not considered. */
export const longestDumpLine = 320

const offset = /^([0-9a-fA-F]{6,16})(:?)(?= |$)/
/** The column that prints the bytes as characters, between `|` or `>` and `<`. */
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

/** `od -c`, `od -a` and `hexdump -c`: each byte is the last of four columns, or an escape, a name or three octal digits. */
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

/** True if a line, or its beginning, could be a line of a dump. */
export const mayBeDump = (line: string): boolean => /^(?:[ \t]|[0-9a-fA-F]{6}|[0-9a-fA-F]{1,5}$)/.test(line)

/** The bytes in a line of a dump, for each possible reading; empty for other lines. */
export const dumpColumns = (line: string): ReadonlyMap<string, ReadonlyArray<ColumnByte>> => {
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
