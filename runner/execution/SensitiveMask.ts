import type { Schema } from "effect"
import { leafTexts } from "../redaction/SecretRule.ts"

/** Placeholders: for a value that the tool marks as sensitive, and for a value that is known only after the apply. */
const sensitiveMark = "(sensitive value)"
const unknownMark = "(known after apply)"

/** A tree of marks, parallel to a value. `true` marks everything below; an absent mark marks nothing. */
export type Marks = Schema.Json | undefined

const isArray = (value: Schema.JsonArray | Schema.JsonObject): value is Schema.JsonArray => Array.isArray(value)

/** Returns the marks of one member of a value. */
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

/** Replaces every marked part of a value. Adds placeholders for unknown parts, which exist only as marks. */
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
  // The marks refer to members, but the value has no members. Hide the entire value to be safe.
  return isMarked(sensitive) && given !== null ? sensitiveMark : given
}

/** Returns the texts of all parts that are marked as sensitive. */
export const sensitiveTexts = (value: Schema.Json | undefined, marks: Marks): ReadonlyArray<string> => {
  if (value === undefined || marks === undefined) return []
  if (marks === true) return leafTexts(value)
  if (typeof value !== "object" || value === null) return isMarked(marks) ? leafTexts(value) : []
  if (isArray(value)) return value.flatMap((member, index) => sensitiveTexts(member, marksOf(marks, index)))
  return Object.entries(value).flatMap(([key, member]) => sensitiveTexts(member, marksOf(marks, key)))
}
