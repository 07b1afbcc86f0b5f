import { containsRoundedNumber } from "../../../schema/json/ExactNumbers.ts"

export type JsonValue = null | boolean | number | string | ReadonlyArray<JsonValue> | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

export const isJsonArray = (value: JsonValue | undefined): value is ReadonlyArray<JsonValue> => Array.isArray(value)

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isJsonArray(value)

const isJsonValue = (value: unknown): value is JsonValue => {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return true
  return typeof value === "object" && Object.values(value).every(isJsonValue)
}

/** Formats a value as JSON with sorted keys, so that equal values have equal texts. */
export const canonicalText = (value: JsonValue): string => {
  if (isJsonArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key] ?? null)}`)
    .join()}}`
}

/**
 * Parses an object or list written as JSON. Returns `undefined` if the text contains more than the value could represent, such as
 * duplicate keys or longer numbers.
 */
const documentOf = (text: string): JsonValue | undefined => {
  const trimmed = text.trim()
  if (!trimmed.startsWith("{") && !trimmed.startsWith("[")) return undefined
  const outside = trimmed.replace(/"(?:[^"\\]|\\.)*"/g, "")
  if (containsRoundedNumber(trimmed)) return undefined
  let members = 0
  try {
    const value: unknown = JSON.parse(trimmed, (_key, inner: unknown) => {
      if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) members += Object.keys(inner).length
      return inner
    })
    return members === outside.split(":").length - 1 && isJsonValue(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the value if it is an object or list, or the object or list that it contains as a JSON string. */
export const structureOf = (value: unknown): JsonValue | undefined => {
  if (typeof value === "string") return documentOf(value)
  return typeof value === "object" && value !== null && isJsonValue(value) ? value : undefined
}
