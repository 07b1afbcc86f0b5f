/** The log lines in a URL, by number. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

const form = /^#?L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/

/** Parses `#L120` or `#L120-L128`. Returns `undefined` for any other fragment. */
export const rangeOf = (hash: string): LineRange | undefined => {
  const match = form.exec(hash)
  if (match === null) return undefined
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  return { from: Math.min(first, last), to: Math.max(first, last) }
}

export const hashOf = ({ from, to }: LineRange): string => (from === to ? `#L${from}` : `#L${from}-L${to}`)

/** Extends a range from its first line to another line, in either direction. */
export const extended = (range: LineRange | undefined, line: number): LineRange =>
  range === undefined
    ? { from: line, to: line }
    : line < range.from
      ? { from: line, to: range.to }
      : { from: range.from, to: line }

/** The URL fragment of the nth error in the log, counting from 1. */
export const errorHash = (place: number): string => `#error-${place}`

/** Parses a fragment such as `#error-2`. Returns the position of the error, counting from 1. */
export const errorPlaceOf = (hash: string): number | undefined => {
  const match = /^#error-([1-9]\d{0,5})$/.exec(hash)
  return match === null ? undefined : Number(match[1])
}
