/** A range of positions in a text, and the origin of the secret in that range. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly origin: string
}

/** Receives the bytes of a text in order, each with its positions in the text. */
export interface ByteSink {
  readonly byte: (value: number, start: number, end: number) => void
  /** Signals that the next bytes do not continue the previous bytes. */
  readonly edge: () => void
}

export const noPosition = Number.POSITIVE_INFINITY

/** Line breaks that were removed from a text before matching. */
export interface LeftOutBreaks {
  /** A match that begins before this position spans a line break. */
  last: number
}

const other = 0
export const blankClass = 0x20
/** Class of the characters that quoting doubles or uses as escapes. */
export const quoteClass = 0x27

/**
 * Byte classes for comparing secrets. All whitespace is one class; another class contains the characters that quoting
 * doubles or puts before other characters. A run of bytes of the same class is compared as a single byte.
 */
const classes = new Uint8Array(256)
for (const value of [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x2b]) classes[value] = blankClass
for (const value of [0x22, 0x24, 0x25, 0x27, 0x5c, 0x60]) classes[value] = quoteClass

const words = new Uint8Array(256)
for (let value = 0; value < 256; value++) words[value] = /\w/.test(String.fromCharCode(value)) && value < 0x80 ? 1 : 0

export const isWordByte = (value: number): boolean => words[value] === 1
export const isDigitByte = (value: number): boolean => value >= 0x30 && value <= 0x39

/** Returns the class of a byte, or 0 if runs of this byte are not folded. */
export const foldedClass = (value: number): number => classes[value] ?? other

/** Returns the comparable form of bytes. */
export const folded = (bytes: Iterable<number>): ReadonlyArray<number> => {
  const result: Array<number> = []
  let run = other
  for (const value of bytes) {
    if (value === 0) continue
    const kind = foldedClass(value)
    if (kind !== other && kind === run) continue
    run = kind
    result.push(kind === other ? value : kind)
  }
  return result
}
