import type { Difference, DifferenceLine } from "./Difference.ts"

/** A line as it is sent to be drawn: a fold holds its number instead of its lines. */
export type DrawnLine =
  | Exclude<DifferenceLine, { readonly kind: "fold" }>
  | (Omit<Extract<DifferenceLine, { readonly kind: "fold" }>, "lines"> & {
      readonly fold: number
      readonly length: number
    })

/** The head of a difference and the first of its lines. */
export interface DrawnDifference extends Omit<Difference, "lines"> {
  readonly lines: ReadonlyArray<DrawnLine>
  /** All lines, folds counted as one. */
  readonly length: number
}

/** A part of the lines, and how many there are. */
export interface DrawnPage {
  readonly lines: ReadonlyArray<DrawnLine>
  readonly length: number
}

/** A difference of up to this many changed lines is drawn whole at once. */
const drawnWhole = 200
const drawnFirst = 50
/** Lines that are added by one request for more. */
export const linesOfPage = 1000

/**
 * Splits a difference into what is drawn at first and what is requested later, so that a page never draws all of it at once.
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
    /** The next lines from a position on: of the difference, or of one of its folds. */
    page: (from: number, fold?: number): DrawnPage => {
      const all = fold === undefined ? lines : unfolded(folds[fold] ?? [])
      return { lines: all.slice(from, from + linesOfPage), length: all.length }
    }
  }
}
