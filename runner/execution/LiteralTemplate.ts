import type { Schema } from "effect"

const literalText = (text: string): string => text.replace(/[$%](?=\{)/g, "$&$&")

const isArray = (value: Schema.JsonArray | Schema.JsonObject): value is Schema.JsonArray => Array.isArray(value)

/**
 * Encodes a value for a `.tf.json` file so that the tool takes it literally. Otherwise the tool evaluates strings and keys as
 * templates.
 */
export const literalTemplate = (value: Schema.Json): Schema.Json => {
  if (typeof value === "string") return literalText(value)
  if (typeof value !== "object" || value === null) return value
  if (isArray(value)) return value.map(literalTemplate)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [literalText(key), literalTemplate(member)]))
}
