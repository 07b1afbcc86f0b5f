import { Schema } from "effect"
import { isInvisible } from "../records/VisibleText.ts"
import { fieldRule, lengthBetween, matches } from "./FieldRule.ts"
import { withoutControlCharacters } from "./WithoutControlCharacters.ts"

/** Rejects leading and trailing whitespace, including the whitespace characters of other scripts. Text is never trimmed. */
export const withoutOuterWhiteSpace = fieldRule<string>({
  code: "not_canonical",
  expected: "no white space at the beginning or the end",
  holds: (text) => text.trim() === text
})

const notBlank = fieldRule<string>({
  code: "blank",
  expected: "a text that is not blank",
  holds: (text) => !isInvisible(text),
  published: { pattern: "\\S" }
})

/** Human-readable text: canonical, not blank, without control characters, 1 to `maximum` code points. */
export const presentationText = (maximum: number) =>
  Schema.String.check(lengthBetween(1, maximum), notBlank, withoutOuterWhiteSpace, withoutControlCharacters)

/** The same text in Japanese and English. */
export const bilingualText = (maximum: number) =>
  Schema.Struct({ ja: presentationText(maximum), en: presentationText(maximum) })

/** An OpenTofu variable name or the name of a delivery target. */
export const VariableName = Schema.String.check(lengthBetween(1, 128), matches(/^[A-Za-z_][A-Za-z0-9_]*$/))

/** An Output name. It may contain hyphens, like other OpenTofu identifiers. */
export const OutputName = Schema.String.check(lengthBetween(1, 128), matches(/^[A-Za-z_][A-Za-z0-9_-]*$/))

const tokenPattern = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/

/** A key, format, scope or Interface type: 1 to `maximum` ASCII characters. */
export const token = (maximum: number) => Schema.String.check(lengthBetween(1, maximum), matches(tokenPattern))

/**
 * A permission: visible ASCII except double quote and backslash. Permissions are compared byte for byte and shown to reviewers.
 */
export const Permission = Schema.String.check(lengthBetween(1, 256), matches(/^[!#-[\]-~]+$/))
