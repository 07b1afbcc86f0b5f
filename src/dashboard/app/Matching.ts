const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

/**
 * Returns how well the text matches; lower numbers are better. The result is 0 if the text starts with the query, higher if
 * a word in it starts with the query or the text merely contains the query, and -1 if there is no match.
 */
const score = (candidate: string, wanted: string): number => {
  const at = candidate.indexOf(wanted)
  if (at < 0) return -1
  if (at === 0) return 0
  return /[\s\-_./]/.test(candidate.charAt(at - 1)) ? 1 : 2
}

export interface Searchable<A> {
  readonly item: A
  readonly text: string
}

/** Items with their searchable text. The text is prepared once per list and not on every key press. */
export const searchable = <A>(items: ReadonlyArray<A>, textOf: (item: A) => string): ReadonlyArray<Searchable<A>> =>
  items.map((item) => ({ item, text: fold(textOf(item)) }))

/**
 * Returns the items whose text contains every typed word. The best matches come first; equally good matches keep their
 * original order. Ignores case, character width (full or half) and word order.
 */
export const matching = <A>(items: ReadonlyArray<Searchable<A>>, typed: string): ReadonlyArray<A> => {
  const wanted = fold(typed)
    .split(/\s+/)
    .filter((word) => word !== "")
  if (wanted.length === 0) return items.map(({ item }) => item)
  return items
    .flatMap(({ item, text }, order) => {
      const scores = wanted.map((word) => score(text, word))
      return scores.includes(-1) ? [] : [{ item, order, rank: scores.reduce((sum, each) => sum + each, 0) }]
    })
    .sort((a, b) => a.rank - b.rank || a.order - b.order)
    .map(({ item }) => item)
}

const id = /^(?:cap|src|conn|run|snap)_[a-z0-9]*$/

/** Returns true if the text is the id, or the beginning of the id, of a record in a Workspace. */
export const looksLikeId = (text: string): boolean => id.test(text)
