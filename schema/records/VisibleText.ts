// Format characters (zero-width, bidirectional), fillers, and separators that break lines. Variation selectors after an emoji and
// joiners inside an emoji are visible, so they are not included.
const invisible =
  /(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?![\ufe0e\ufe0f\u200d])[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu

// Matches most text, so the slower check below is rarely needed.
const ascii = /^[\0-\x7f]*$/

const spelled = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/**
 * Makes untrusted text safe to show: replaces invisible characters, and characters that reorder text, with their code points
 * (such as U+202E), so that different texts always look different.
 */
export const visibleText = (text: string): string => (ascii.test(text) ? text : text.replace(invisible, spelled))

/**
 * In JSON, escapes the characters that `visibleText` replaces. Programs still read the same value, but people can see the
 * characters.
 */
export const visibleJson = (json: string): string =>
  ascii.test(json)
    ? json
    : json.replace(invisible, (character) =>
        Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
          .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
          .join("")
      )

/** Matches a visible character. Text without a match looks empty. */
export const visibleCharacter = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Returns true if the text looks empty: it contains nothing but whitespace and invisible characters. */
export const isInvisible = (text: string): boolean => !visibleCharacter.test(text)
