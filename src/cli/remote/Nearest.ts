import { editDistance } from "../../settings/EditDistance.ts"

/** The largest edit distance between two names that still looks like a typo. */
const mostEdits = 2

/** The known name that was probably meant, for a suggestion. Part of a name is enough. */
export const nearest = (named: string, known: ReadonlyArray<string>): string | undefined => {
  const wanted = named.toLowerCase()
  const [best] = known
    .map((name) => {
      const lower = name.toLowerCase()
      const parts = [lower, ...lower.split("/")]
      return {
        name,
        edits: lower.startsWith(wanted) ? 1 : Math.min(...parts.map((part) => editDistance(wanted, part)))
      }
    })
    .filter(({ edits }) => edits <= mostEdits)
    .toSorted((a, b) => a.edits - b.edits)
  return best?.name
}
