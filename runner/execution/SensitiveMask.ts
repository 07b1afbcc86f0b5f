import type { Schema } from "effect"
import { leafTexts } from "../redaction/SecretRule.ts"

/** The placeholders for a value that the tool marks as sensitive, and for a value that only the apply determines. */
const sensitiveMark = "(sensitive value)"
const unknownMark = "(known after apply)"

/** A tree of marks parallel to a value: `true` marks everything below; an absent mark marks nothing. */
export type Marks = Schema.Json | undefined

const isArray = (value: Schema.JsonArray | Schema.JsonObject): value is Schema.JsonArray => Array.isArray(value)

/** The marks on one member of a marked value. */
export const marksOf = (marks: Marks, key: string | number): Marks => {
  if (marks === true) return true
  if (typeof marks !== "object" || marks === null) return undefined
  if (isArray(marks)) return typeof key === "number" ? marks[key] : undefined
  return Object.hasOwn(marks, key) ? marks[key] : undefined
}

const markedKeys = (marks: Marks): ReadonlyArray<string> =>
  typeof marks === "object" && marks !== null && !isArray(marks) ? Object.keys(marks) : []

const length = (marks: Marks): number =>
  typeof marks === "object" && marks !== null && isArray(marks) ? marks.length : 0

const isMarked = (marks: Marks): boolean => {
  if (typeof marks !== "object" || marks === null) return marks === true
  return Object.values(marks).some(isMarked)
}

/** The value with every marked part replaced. An unknown part has no value: only its mark shows that the part will exist. */
export const maskValue = (value: Schema.Json | undefined, sensitive: Marks, unknown: Marks): Schema.Json => {
  if (sensitive === true) return sensitiveMark
  if (unknown === true) return unknownMark
  const given = value ?? null
  if (typeof given === "object" && given !== null) {
    if (isArray(given)) {
      const size = Math.max(given.length, length(unknown))
      return Array.from({ length: size }, (_, index) =>
        maskValue(given[index], marksOf(sensitive, index), marksOf(unknown, index))
      )
    }
    const unknownKeys = markedKeys(unknown).filter(
      (key) => !Object.hasOwn(given, key) && isMarked(marksOf(unknown, key))
    )
    return Object.fromEntries(
      [...Object.keys(given), ...unknownKeys].map((key) => [
        key,
        maskValue(given[key], marksOf(sensitive, key), marksOf(unknown, key))
      ])
    )
  }
  // Marks below a plain value do not match the value; hiding the whole value is safe.
  return isMarked(sensitive) && given !== null ? sensitiveMark : given
}

/** The text of every part that is marked as sensitive. */
export const sensitiveTexts = (value: Schema.Json | undefined, marks: Marks): ReadonlyArray<string> => {
  if (value === undefined || marks === undefined) return []
  if (marks === true) return leafTexts(value)
  if (typeof value !== "object" || value === null) return isMarked(marks) ? leafTexts(value) : []
  if (isArray(value)) return value.flatMap((member, index) => sensitiveTexts(member, marksOf(marks, index)))
  return Object.entries(value).flatMap(([key, member]) => sensitiveTexts(member, marksOf(marks, key)))
}
