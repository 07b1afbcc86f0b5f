import type { DifferenceLine } from "./Difference.ts"

/** A run of unchanged lines is folded if that hides more than this many. */
const shortestFold = 3

/** Folds unchanged lines that are more than `context` lines away from a changed one. */
export const folded = (lines: ReadonlyArray<DifferenceLine>, context: number): ReadonlyArray<DifferenceLine> => {
  const drawn: Array<DifferenceLine> = []
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.kind !== "same") {
      const line = lines[at++]
      if (line !== undefined) drawn.push(line)
      continue
    }
    let end = at
    while (end < lines.length && lines[end]?.kind === "same") end++
    const first = at === 0 ? at : Math.min(end, at + context)
    const last = end === lines.length ? end : Math.max(first, end - context)
    drawn.push(...lines.slice(at, first))
    const hidden = lines.slice(first, last)
    if (hidden.length < shortestFold) drawn.push(...hidden)
    else drawn.push({ kind: "fold", unit: "lines", count: hidden.length, lines: hidden })
    drawn.push(...lines.slice(last, end))
    at = end
  }
  return drawn
}
