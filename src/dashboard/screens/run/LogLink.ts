/** Lines of a log that an address names, by their numbers. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

const form = /^#?L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/

/** The lines of `#L120` or `#L120-L128`; `undefined` when the address names none. */
export const rangeOf = (hash: string): LineRange | undefined => {
  const match = form.exec(hash)
  if (match === null) return undefined
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  return { from: Math.min(first, last), to: Math.max(first, last) }
}

export const hashOf = ({ from, to }: LineRange): string => (from === to ? `#L${from}` : `#L${from}-L${to}`)

/** The range from where one begins to another line, in either direction. */
export const extended = (range: LineRange | undefined, line: number): LineRange =>
  range === undefined
    ? { from: line, to: line }
    : line < range.from
      ? { from: line, to: range.to }
      : { from: range.from, to: line }

/** The address of the log's Nth error, from 1. */
export const errorHash = (place: number): string => `#error-${place}`

/** The place of the error that `#error-2` names, from 1. */
export const errorPlaceOf = (hash: string): number | undefined => {
  const match = /^#error-([1-9]\d{0,5})$/.exec(hash)
  return match === null ? undefined : Number(match[1])
}
