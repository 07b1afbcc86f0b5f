/** A segment of a line; a marked one differs between the two lines of a pair. */
export interface Segment {
  readonly text: string
  readonly marked: boolean
}

/** The unit that a fold counts: elements of a policy, members of an object, elements of a list, or lines of text. */
export type Unit = "statements" | "keys" | "items" | "lines"

/** One line of a difference. Lines are numbered from 1, on each side where the line exists. */
export type DifferenceLine =
  | { readonly kind: "same"; readonly before: number; readonly after: number; readonly text: string }
  | { readonly kind: "removed"; readonly before: number; readonly segments: ReadonlyArray<Segment> }
  | { readonly kind: "added"; readonly after: number; readonly segments: ReadonlyArray<Segment> }
  /** The path to the lines below it, from the outermost member inwards. */
  | { readonly kind: "path"; readonly path: ReadonlyArray<string> }
  /** An element of an ordered list that has moved; positions are counted from 1. */
  | { readonly kind: "moved"; readonly from: number; readonly to: number; readonly text: string }
  | {
      readonly kind: "fold"
      readonly unit: Unit
      readonly count: number
      readonly lines: ReadonlyArray<DifferenceLine>
    }

/** A change that must never be hidden in a fold: it affects who may do what to which resource. */
export interface Highlight {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The interpretation of the two sides. */
export type Reading = "json" | "base64" | "text" | "words"

/** The difference between two values, ready to be drawn. */
export interface Difference {
  readonly reading: Reading
  /**
   * The number of changes, and its unit: `changed` out of `total` elements that existed before or exist now; `added` and
   * `removed` are included in `changed`.
   */
  readonly extent: {
    readonly unit: Unit
    readonly changed: number
    readonly added: number
    readonly removed: number
    readonly total: number
  }
  readonly highlights: ReadonlyArray<Highlight>
  /** Elements whose only change is their position, where order has no meaning. */
  readonly reordered: number
  /** The only respect in which the two values differ. */
  readonly only: "whitespace" | "type" | "order" | undefined
  readonly lines: ReadonlyArray<DifferenceLine>
  /** The number of lines added or removed; not all lines of a long difference are drawn initially. */
  readonly changedLines: number
}

/** The two values to compare, and the name of the comparison. */
export interface ValuePair {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}
