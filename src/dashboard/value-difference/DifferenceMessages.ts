import type { ValuePair } from "./Difference.ts"
import type { DrawnDifference, DrawnPage } from "./DifferencePages.ts"

/**
 * The page's requests to the worker. `of` identifies a difference: a `compare` request introduces this number, and a
 * `forget` request releases it.
 */
export type DifferenceRequest =
  | { readonly kind: "compare"; readonly of: number; readonly pair: ValuePair }
  | {
      readonly kind: "page"
      readonly of: number
      readonly request: number
      readonly from: number
      readonly fold?: number
    }
  | { readonly kind: "forget"; readonly of: number }

export type DifferenceReply =
  | { readonly kind: "compared"; readonly of: number; readonly difference: DrawnDifference }
  | { readonly kind: "page"; readonly request: number; readonly page: DrawnPage }
