import { visibleText } from "../../schema/records/VisibleText.ts"
import { isGraphicRendition, rewriteTerminalText } from "./AnsiSequences.ts"

// Every control character but tab and line feed.
const control = /(?![\t\n])\p{Cc}/gu

const escapeControl = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`

const escapeInvisible = (text: string) => visibleText(text.replaceAll("\r\n", "\n").replace(control, escapeControl))
const keepGraphicRendition = (sequence: string) =>
  isGraphicRendition(sequence) ? sequence.replace("\u009b", "\u001b[") : ""

/**
 * Text for a log line: colours (SGR) are kept; titles, links, cursor moves and clears are removed; every other control character,
 * invisible character and lone surrogate is made visible. Line feeds are kept; a carriage return before one is dropped, any
 * other is made visible, so nothing can be overwritten. Redact first.
 */
export const logText = (text: string): string =>
  rewriteTerminalText(text.toWellFormed(), escapeInvisible, keepGraphicRendition)

/** Like the above but without colours, for messages in events and diagnostics. */
export const plainText = (text: string): string => rewriteTerminalText(text.toWellFormed(), escapeInvisible, () => "")
