/** Characters that reorder text or are invisible could make two values look alike, so they are shown to the reviewer. */
export const visibleText = (text: string): string =>
  text.replace(/[\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
