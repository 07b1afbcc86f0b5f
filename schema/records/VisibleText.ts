// Format characters (zero-width, bidirectional), fillers, and separators that break a line. Variation selectors after a picture and
// the joiners inside a picture are part of what a person sees.
const invisible =
  /(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?![\ufe0e\ufe0f\u200d])[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu

const spelled = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/**
 * Foreign text as a person sees it: a character that is invisible or changes the order of the others is spelled out, as U+202E, so
 * that two texts that differ look different.
 */
export const visibleText = (text: string): string => text.replace(invisible, spelled)

/** Whether a person sees nothing of the text: it is empty, or has only white space and invisible characters. */
export const isInvisible = (text: string): boolean =>
  /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text)
