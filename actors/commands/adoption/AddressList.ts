/** Maximum length of an address that an install can confirm. */
const longestAddress = 1024

/** Lists addresses or other strings from a state in a message, limited in number and length. */
export const addressList = (texts: ReadonlyArray<string>, namedAtMost: number): string => {
  const named = texts.slice(0, namedAtMost).map((text) => text.slice(0, longestAddress))
  return texts.length <= namedAtMost ? named.join(", ") : `${named.join(", ")} and ${texts.length - namedAtMost} more`
}
