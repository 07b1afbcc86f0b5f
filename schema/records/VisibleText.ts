// Format characters (zero-width, bidirectional), fillers, and separators that break lines. Variation selectors after an emoji and
// joiners inside an emoji are visible, so they are not included.
const invisible =
  /(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?![\ufe0e\ufe0f\u200d])[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu

// A fast check that succeeds for most text.
const ascii = /^[\0-\x7f]*$/

const spelled = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/**
 * Makes text from others safe to show: replaces characters that are invisible or reorder text by their code, such as U+202E, so
 * that different texts look different.
 */
export const visibleText = (text: string): string => (ascii.test(text) ? text : text.replace(invisible, spelled))

/** Escapes the same characters in JSON. Programs read the same value, and people see the characters. */
export const visibleJson = (json: string): string =>
  ascii.test(json)
    ? json
    : json.replace(invisible, (character) =>
        Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
          .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
          .join("")
      )

/** A visible character. Text without one looks empty. */
export const visibleCharacter = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Returns true if the text looks empty, because it contains only whitespace and invisible characters or nothing. */
export const isInvisible = (text: string): boolean => !visibleCharacter.test(text)
