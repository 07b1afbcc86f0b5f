/** A part of the OpenAPI document. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const itemsOf = (schema: JsonObject) =>
  schema["type"] === "array" && schema["items"] === undefined && schema["prefixItems"] === undefined
    ? { items: {} }
    : {}

const rewritten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rewritten)
  return isObject(value) ? withItems(value) : value
}

/** Names the items of every array: those of arbitrary JSON are `{}`, which the generator leaves out. */
export const withItems = (value: JsonObject): JsonObject => ({
  ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rewritten(inner)])),
  ...itemsOf(value)
})
