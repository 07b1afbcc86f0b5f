/** A range of bytes in which two files differ. */
export interface DifferentBytes {
  readonly offset: number
  readonly length: number
  /** The bytes of each file, at most 32, with a dot for each byte that is not printable ASCII. */
  readonly texts: readonly [string, string]
}

const shown = 32
// Ranges are joined if fewer equal bytes separate them, so that a date or a path is not split at each equal letter.
const gap = 16

const printable = (bytes: Uint8Array) =>
  [...bytes].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("")

/** Returns the ranges in which two files differ. If one file is longer, its additional bytes also form a range. */
export const byteDifferences = (one: Uint8Array, other: Uint8Array): ReadonlyArray<DifferentBytes> => {
  const ranges: Array<{ offset: number; end: number }> = []
  const shared = Math.min(one.length, other.length)
  for (let at = 0; at < shared; at++) {
    if (one[at] === other[at]) continue
    const last = ranges.at(-1)
    if (last !== undefined && at - last.end < gap) last.end = at + 1
    else ranges.push({ offset: at, end: at + 1 })
  }
  if (one.length !== other.length) ranges.push({ offset: shared, end: Math.max(one.length, other.length) })
  return ranges.map(({ end, offset }) => {
    const text = (bytes: Uint8Array) => printable(bytes.subarray(offset, Math.min(end, offset + shown)))
    return { offset, length: end - offset, texts: [text(one), text(other)] }
  })
}
