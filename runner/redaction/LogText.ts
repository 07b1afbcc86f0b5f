import { visibleText } from "../../schema/records/VisibleText.ts"
import { isGraphicRendition, rewriteTerminalText } from "./AnsiSequences.ts"

// All control characters except tab and line feed.
const control = /(?![\t\n])\p{Cc}/gu

const escapeControl = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`

const escapeInvisible = (text: string) => visibleText(text.replaceAll("\r\n", "\n").replace(control, escapeControl))
const keepGraphicRendition = (sequence: string) =>
  isGraphicRendition(sequence) ? sequence.replace("\u009b", "\u001b[") : ""

/**
 * Makes text safe for a log line. Keeps colours (SGR), removes titles, links, cursor moves and clears, and makes all other
 * control characters, invisible characters and lone surrogates visible. Keeps line feeds; drops a carriage return before a line
 * feed and makes any other one visible, so that nothing can be overwritten. Redact first.
 */
export const logText = (text: string): string =>
  rewriteTerminalText(text.toWellFormed(), escapeInvisible, keepGraphicRendition)

/** Like `logText` but without colours, for messages in events and diagnostics. */
export const plainText = (text: string): string => rewriteTerminalText(text.toWellFormed(), escapeInvisible, () => "")
