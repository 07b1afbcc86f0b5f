import { visibleText } from "../../schema/records/VisibleText.ts"
import { isGraphicRendition, rewriteTerminalText } from "./AnsiSequences.ts"

// Matches all control characters except tab and line feed.
const control = /(?![\t\n])\p{Cc}/gu

const escapeControl = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`

const escapeInvisible = (text: string) => visibleText(text.replaceAll("\r\n", "\n").replace(control, escapeControl))
const keepGraphicRendition = (sequence: string) =>
  isGraphicRendition(sequence) ? sequence.replace("\u009b", "\u001b[") : ""

/**
 * Makes text safe for a log line. Keeps colours (SGR) and line feeds. Removes titles, links, cursor moves, clears, and carriage
 * returns before a line feed. Makes visible everything else that could hide or overwrite text: other carriage returns,
 * control characters, invisible characters and lone surrogates. Redact the text first.
 */
export const logText = (text: string): string =>
  rewriteTerminalText(text.toWellFormed(), escapeInvisible, keepGraphicRendition)

/** Like `logText`, but also removes colours. Used for messages in events and diagnostics. */
export const plainText = (text: string): string => rewriteTerminalText(text.toWellFormed(), escapeInvisible, () => "")
