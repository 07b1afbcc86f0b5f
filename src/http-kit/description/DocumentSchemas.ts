/** A part of the OpenAPI document. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isNull = (schema: unknown) => isObject(schema) && schema["type"] === "null"

/** Returns true if the schema is what the generator emits for an object without fields: anything but null. */
const isEmptyObject = (schema: JsonObject) => Object.keys(schema).length === 1 && isNull(schema["not"])

const emptyObject = { type: "object", additionalProperties: false }

const itemsOf = (schema: JsonObject) =>
  schema["type"] === "array" && schema["items"] === undefined && schema["prefixItems"] === undefined
    ? { items: {} }
    : {}

const rewritten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rewritten)
  return isObject(value) ? withPlainSchemas(value) : value
}

/**
 * Makes explicit what the generator leaves open: the items of every array, which are `{}` for arbitrary JSON, and that an object
 * without fields is an object.
 */
export const withPlainSchemas = (value: JsonObject): JsonObject =>
  isEmptyObject(value)
    ? emptyObject
    : {
        ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rewritten(inner)])),
        ...itemsOf(value)
      }

/** A body that may be omitted: an object without fields, or one declared as optional, which reads as null. */
export const withoutNull = (schema: JsonObject): { readonly schema: JsonObject; readonly optional: boolean } => {
  const branches: ReadonlyArray<unknown> = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []
  const present = branches.filter((branch) => !isNull(branch))
  const [only] = present
  const optional = present.length < branches.length
  const left = optional && present.length === 1 && isObject(only) ? only : schema
  return { schema: left, optional: optional || isEmptyObject(left) }
}
