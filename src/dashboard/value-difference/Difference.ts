/** A segment of a line. A marked segment differs between the two lines of a pair. */
export interface Segment {
  readonly text: string
  readonly marked: boolean
}

/**
 * The unit in which the contents of a fold are counted: policy statements, object keys, list items or lines of text.
 */
export type Unit = "statements" | "keys" | "items" | "lines"

/** A line of a difference. Lines are numbered from 1 on each side that contains them. */
export type DifferenceLine =
  | { readonly kind: "same"; readonly before: number; readonly after: number; readonly text: string }
  | { readonly kind: "removed"; readonly before: number; readonly segments: ReadonlyArray<Segment> }
  | { readonly kind: "added"; readonly after: number; readonly segments: ReadonlyArray<Segment> }
  /** The path to the following lines, from the outermost member inwards. */
  | { readonly kind: "path"; readonly path: ReadonlyArray<string> }
  /** An item that has moved within an ordered list. Positions are counted from 1. */
  | { readonly kind: "moved"; readonly from: number; readonly to: number; readonly text: string }
  | {
      readonly kind: "fold"
      readonly unit: Unit
      readonly count: number
      readonly lines: ReadonlyArray<DifferenceLine>
    }

/** A change that a fold must never hide, because it affects permissions on resources. */
export interface Highlight {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Maximum number of paths in a heading. */
export const pathsAtMost = 24

/** The format in which both sides are compared. */
export type Reading = "json" | "base64" | "text" | "words"

/** The difference between two values, ready for rendering. */
export interface Difference {
  readonly reading: Reading
  /**
   * The number of changes and its unit. `total` counts the items that exist on either side. `changed` counts those that
   * differ, including `added` and `removed`.
   */
  readonly extent: {
    readonly unit: Unit
    readonly changed: number
    readonly added: number
    readonly removed: number
    readonly total: number
  }
  readonly highlights: ReadonlyArray<Highlight>
  /**
   * The paths of the changed parts of a structure, at most `pathsAtMost` of them. `pathCount` is the number of all such
   * paths.
   */
  readonly paths: ReadonlyArray<string>
  readonly pathCount: number
  /** Number of items, in lists without a meaningful order, that only changed their position. */
  readonly reordered: number
  /** Set if the values differ only in whitespace, type or order. */
  readonly only: "whitespace" | "type" | "order" | undefined
  readonly lines: ReadonlyArray<DifferenceLine>
  /** Number of added or removed lines. Not all lines of a long difference are initially rendered. */
  readonly changedLines: number
}

/** The two values to compare, and the name of their attribute. */
export interface ValuePair {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}
