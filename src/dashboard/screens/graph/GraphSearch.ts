import { boundedText } from "../../words/AddressText.ts"

/** What the address of the graph carries: the Capsule in the middle, and the words that are searched for. */
export interface GraphSearch {
  readonly around?: string | undefined
  readonly q?: string | undefined
}

export const graphSearch = (search: Record<string, unknown>): GraphSearch => ({
  around: boundedText(search["around"], 80),
  q: boundedText(search["q"], 100)
})
