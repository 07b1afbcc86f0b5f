/** As long as an address that an install can confirm. */
const longestAddress = 1024

/** The addresses of a state, or other text of it, for a sentence: so many of them, none without end. */
export const addressList = (texts: ReadonlyArray<string>, namedAtMost: number): string => {
  const named = texts.slice(0, namedAtMost).map((text) => text.slice(0, longestAddress))
  return texts.length <= namedAtMost ? named.join(", ") : `${named.join(", ")} and ${texts.length - namedAtMost} more`
}
