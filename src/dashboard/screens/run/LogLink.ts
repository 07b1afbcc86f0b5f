/** The log lines that a URL identifies by number. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

const form = /^#?L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/

/** The lines that `#L120` or `#L120-L128` refers to; `undefined` if the URL refers to none. */
export const rangeOf = (hash: string): LineRange | undefined => {
  const match = form.exec(hash)
  if (match === null) return undefined
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  return { from: Math.min(first, last), to: Math.max(first, last) }
}

export const hashOf = ({ from, to }: LineRange): string => (from === to ? `#L${from}` : `#L${from}-L${to}`)

/** The range from the line where the selection starts to another line, in either direction. */
export const extended = (range: LineRange | undefined, line: number): LineRange =>
  range === undefined
    ? { from: line, to: line }
    : line < range.from
      ? { from: line, to: range.to }
      : { from: range.from, to: line }

/** The URL fragment for the log's Nth error, counting from 1. */
export const errorHash = (place: number): string => `#error-${place}`

/** The position of the error that `#error-2` refers to, counting from 1. */
export const errorPlaceOf = (hash: string): number | undefined => {
  const match = /^#error-([1-9]\d{0,5})$/.exec(hash)
  return match === null ? undefined : Number(match[1])
}
