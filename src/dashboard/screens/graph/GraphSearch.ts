import { boundedText } from "../../words/AddressText.ts"

/** The part of the graph's state that is stored in the URL: the centred Capsule and the search text. */
export interface GraphSearch {
  readonly around?: string | undefined
  readonly q?: string | undefined
}

export const graphSearch = (search: Record<string, unknown>): GraphSearch => ({
  around: boundedText(search["around"], 80),
  q: boundedText(search["q"], 100)
})
