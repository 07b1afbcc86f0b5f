import { isGraphicRendition, rewriteTerminalText } from "./AnsiSequences.ts"

// Every control character but tab and line feed, and invisible characters that reorder or break a line.
const invisible = /(?![\t\n])\p{Cc}|\p{Bidi_Control}|[\u2028\u2029\ufeff]/gu

const escapeCharacter = (character: string) => {
  const code = character.charCodeAt(0).toString(16)
  return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`
}

const escapeInvisible = (text: string) => text.replaceAll("\r\n", "\n").replace(invisible, escapeCharacter)
const keepGraphicRendition = (sequence: string) =>
  isGraphicRendition(sequence) ? sequence.replace("\u009b", "\u001b[") : ""

/**
 * Text for a log line: colours (SGR) are kept; titles, links, cursor moves and clears are removed; every other control character,
 * bidirectional override and lone surrogate is made visible. Line feeds are kept; a carriage return before one is dropped, any
 * other is made visible, so nothing can be overwritten. Redact first.
 */
export const logText = (text: string): string =>
  rewriteTerminalText(text.toWellFormed(), escapeInvisible, keepGraphicRendition)

/** Like the above but without colours, for messages in events and diagnostics. */
export const plainText = (text: string): string => rewriteTerminalText(text.toWellFormed(), escapeInvisible, () => "")
