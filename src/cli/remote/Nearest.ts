import { editDistance } from "../../settings/EditDistance.ts"

/** Maximum edit distance at which a name is treated as a typo of another name. */
const mostEdits = 2

/** Returns the known name that the person probably meant. Part of a name is enough for a match. */
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
