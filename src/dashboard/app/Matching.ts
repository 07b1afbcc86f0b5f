const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

/** 0 is best: starts with the text, then a word of it does, then it is inside; -1 is no match. */
const score = (candidate: string, wanted: string): number => {
  const at = candidate.indexOf(wanted)
  if (at < 0) return -1
  if (at === 0) return 0
  return /[\s\-_./]/.test(candidate.charAt(at - 1)) ? 1 : 2
}

/**
 * Items whose text holds every word typed, best match first, otherwise in their own order. Case, width (full or half) and
 * the order of the words do not matter.
 */
export const matching = <A>(items: ReadonlyArray<A>, typed: string, textOf: (item: A) => string): ReadonlyArray<A> => {
  const wanted = fold(typed)
    .split(/\s+/)
    .filter((word) => word !== "")
  if (wanted.length === 0) return items
  return items
    .map((item, order) => {
      const text = fold(textOf(item))
      const scores = wanted.map((word) => score(text, word))
      return { item, order, rank: scores.includes(-1) ? -1 : scores.reduce((sum, each) => sum + each, 0) }
    })
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank || a.order - b.order)
    .map(({ item }) => item)
}
