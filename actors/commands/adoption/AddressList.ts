/** Maximum length, in characters, of an address that an install can confirm. */
const longestAddress = 1024

/** Formats addresses or other strings from a state for a message. Limits both their number and their length. */
export const addressList = (texts: ReadonlyArray<string>, namedAtMost: number): string => {
  const named = texts.slice(0, namedAtMost).map((text) => text.slice(0, longestAddress))
  return texts.length <= namedAtMost ? named.join(", ") : `${named.join(", ")} and ${texts.length - namedAtMost} more`
}
