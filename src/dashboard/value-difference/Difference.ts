/** A segment of a line; a marked one is what differs within a pair of lines. */
export interface Segment {
  readonly text: string
  readonly marked: boolean
}

/** What a fold counts: elements of a policy, members of an object, elements of a list, or lines of text. */
export type Unit = "statements" | "keys" | "items" | "lines"

/** One line of a difference. Lines are numbered from 1, on each side that has the line. */
export type DifferenceLine =
  | { readonly kind: "same"; readonly before: number; readonly after: number; readonly text: string }
  | { readonly kind: "removed"; readonly before: number; readonly segments: ReadonlyArray<Segment> }
  | { readonly kind: "added"; readonly after: number; readonly segments: ReadonlyArray<Segment> }
  /** The path to the lines below it, from the outermost member inwards. */
  | { readonly kind: "path"; readonly path: ReadonlyArray<string> }
  /** An element of an ordered list has moved; positions are counted from 1. */
  | { readonly kind: "moved"; readonly from: number; readonly to: number; readonly text: string }
  | {
      readonly kind: "fold"
      readonly unit: Unit
      readonly count: number
      readonly lines: ReadonlyArray<DifferenceLine>
    }

/** A change that a reviewer must never find folded away: who may do what to what. */
export interface Highlight {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** How the two sides were interpreted. */
export type Reading = "json" | "base64" | "text" | "words"

/** The difference between two values, ready to be drawn. */
export interface Difference {
  readonly reading: Reading
  /**
   * How much has changed, and of what: `changed` out of `total` elements that existed before or exist now; `added` and `removed`
   * are included in `changed`.
   */
  readonly extent: {
    readonly unit: Unit
    readonly changed: number
    readonly added: number
    readonly removed: number
    readonly total: number
  }
  readonly highlights: ReadonlyArray<Highlight>
  /** Elements that only changed their position where order has no meaning. */
  readonly reordered: number
  /** The only thing in which the two values differ. */
  readonly only: "whitespace" | "type" | "order" | undefined
  readonly lines: ReadonlyArray<DifferenceLine>
  /** The number of lines added or removed; a long difference does not draw all of them at first. */
  readonly changedLines: number
}

/** The two values to compare, and their name. */
export interface ValuePair {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}
