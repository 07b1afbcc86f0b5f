import { stripVTControlCharacters } from "node:util"
import { visibleText } from "../../../schema/records/VisibleText.ts"

const controls = /[^\P{Cc}\t]/gu

/**
 * Text from a server, made safe for a terminal: nothing in it moves the cursor, hides a line or sets a title, and characters that
 * would reorder or hide letters are spelled out.
 */
export const terminalText = (text: string): string =>
  visibleText(stripVTControlCharacters(text).replaceAll(controls, " "))

/** Returns true if a person typed the name, as it is stored or as the terminal shows it. */
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

/** Colours text if the terminal has colours; otherwise leaves it unchanged. */
export const painter =
  (hasColours: boolean): Paint =>
  (style, text) =>
    hasColours && text !== "" ? `\u001b[${codes[style]}m${text}\u001b[0m` : text
