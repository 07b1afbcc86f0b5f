/** A part of the OpenAPI document. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isNull = (schema: unknown) => isObject(schema) && schema["type"] === "null"

/**
 * Returns true for the schema that the generator emits for an object without fields. That schema accepts everything but
 * null.
 */
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
 * Adds details that the generator omits: the items of every array, with `{}` for arbitrary JSON, and the type of an object
 * without fields.
 */
export const withPlainSchemas = (value: JsonObject): JsonObject =>
  isEmptyObject(value)
    ? emptyObject
    : {
        ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rewritten(inner)])),
        ...itemsOf(value)
      }

/**
 * Removes null from the schema of a body that may be omitted. The generator emits a body as nullable if it is declared as
 * optional or is an object without fields.
 */
export const withoutNull = (schema: JsonObject): { readonly schema: JsonObject; readonly optional: boolean } => {
  const branches: ReadonlyArray<unknown> = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []
  const present = branches.filter((branch) => !isNull(branch))
  const [only] = present
  const optional = present.length < branches.length
  const left = optional && present.length === 1 && isObject(only) ? only : schema
  return { schema: left, optional: optional || isEmptyObject(left) }
}
