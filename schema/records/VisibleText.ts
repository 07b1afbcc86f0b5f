// Format characters (zero-width, bidirectional), fillers, and separators that break a line. Variation selectors after a picture
// and the joiners inside a picture are visible, so they are not in this list.
const invisible =
  /(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?![\ufe0e\ufe0f\u200d])[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu

// Recognises most text quickly.
const ascii = /^[\0-\x7f]*$/

const spelled = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/**
 * Shows text from others as a reader sees it: a character that is invisible or changes the order of the others is spelled out, as
 * U+202E, so that two texts that differ look different.
 */
export const visibleText = (text: string): string => (ascii.test(text) ? text : text.replace(invisible, spelled))

/** JSON with the same characters escaped: a program reads the same value, and a person sees the characters. */
export const visibleJson = (json: string): string =>
  ascii.test(json)
    ? json
    : json.replace(invisible, (character) =>
        Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
          .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
          .join("")
      )

/** A visible character: text without such a character looks empty. */
export const visibleCharacter = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u

/** True if the text looks empty: it has only white space and invisible characters, or nothing. */
export const isInvisible = (text: string): boolean => !visibleCharacter.test(text)
