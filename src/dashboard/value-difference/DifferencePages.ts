import type { Difference, DifferenceLine } from "./Difference.ts"

/** A line in the form sent for rendering: a fold contains a number instead of its lines. */
export type DrawnLine =
  | Exclude<DifferenceLine, { readonly kind: "fold" }>
  | (Omit<Extract<DifferenceLine, { readonly kind: "fold" }>, "lines"> & {
      readonly fold: number
      readonly length: number
    })

/** The description of a difference, and its first lines. */
export interface DrawnDifference extends Omit<Difference, "lines"> {
  readonly lines: ReadonlyArray<DrawnLine>
  /** Number of lines. Each fold counts as one line. */
  readonly length: number
}

/** Some of the lines, and their total number. */
export interface DrawnPage {
  readonly lines: ReadonlyArray<DrawnLine>
  readonly length: number
}

/** A difference with at most this many changed lines is rendered completely. */
const drawnWhole = 200
const drawnFirst = 50
/** Number of lines added by each request. */
export const linesOfPage = 1000

/**
 * Splits a difference into a part to render at once and a part to fetch later, so that a page never renders everything at
 * the same time.
 */
export const paged = (difference: Difference) => {
  const folds: Array<ReadonlyArray<DifferenceLine>> = []
  const lines = difference.lines.map((line): DrawnLine => {
    if (line.kind !== "fold") return line
    folds.push(line.lines)
    return { kind: "fold", unit: line.unit, count: line.count, fold: folds.length - 1, length: line.lines.length }
  })
  const unfolded = (part: ReadonlyArray<DifferenceLine>) => part.flatMap((line) => (line.kind === "fold" ? [] : [line]))
  const first: DrawnDifference = {
    ...difference,
    lines: difference.changedLines > drawnWhole || lines.length > linesOfPage ? lines.slice(0, drawnFirst) : lines,
    length: lines.length
  }
  return {
    first,
    /** Returns the next lines, starting at a position in the difference or in one of its folds. */
    page: (from: number, fold?: number): DrawnPage => {
      const all = fold === undefined ? lines : unfolded(folds[fold] ?? [])
      return { lines: all.slice(from, from + linesOfPage), length: all.length }
    }
  }
}
