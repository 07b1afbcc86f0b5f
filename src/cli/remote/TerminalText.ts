import { stripVTControlCharacters } from "node:util"
import { visibleText } from "../../../schema/records/VisibleText.ts"

const controls = /[^\P{Cc}\t]/gu

/**
 * Makes text from a server safe for a terminal, so that it cannot move the cursor, hide a line or set a title. Escapes characters
 * that would reorder or hide letters.
 */
export const terminalText = (text: string): string =>
  visibleText(stripVTControlCharacters(text).replaceAll(controls, " "))

/** Returns true if the person typed the name either as it is stored or as the terminal displays it. */
export const isTypedName = (typed: string, name: string): boolean => [name, terminalText(name)].includes(typed.trim())

type Style = "bold" | "faint" | "underline" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan"

const codes: Readonly<Record<Style, number>> = {
  bold: 1,
  faint: 2,
  underline: 4,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36
}

export type Paint = (style: Style, text: string) => string

/** Colours text if the terminal supports colours; otherwise returns the text unchanged. */
export const painter =
  (hasColours: boolean): Paint =>
  (style, text) =>
    hasColours && text !== "" ? `\u001b[${codes[style]}m${text}\u001b[0m` : text
