import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { SvcApi } from "../../../../schema/api/SvcApi.ts"
import { world } from "./World.ts"

/** The JSON Schema keywords that the API description uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly enum?: ReadonlyArray<Schema.Json>
  readonly const?: Schema.Json
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema | false
  readonly prefixItems?: ReadonlyArray<JsonSchema>
  readonly minItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly pattern?: string
  readonly description?: string
  readonly additionalProperties?: boolean | JsonSchema
}

const Inner = Schema.suspend((): Schema.Codec<JsonSchema, unknown> => JsonSchema)
const Branches = Schema.optionalKey(Schema.Array(Inner))
const JsonSchema: Schema.Codec<JsonSchema, unknown> = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  enum: Schema.optionalKey(Schema.Array(Schema.Json)),
  const: Schema.optionalKey(Schema.Json),
  anyOf: Branches,
  oneOf: Branches,
  allOf: Branches,
  properties: Schema.optionalKey(Schema.Record(Schema.String, Inner)),
  required: Schema.optionalKey(Schema.Array(Schema.String)),
  items: Schema.optionalKey(Schema.Union([Schema.Literal(false), Inner])),
  prefixItems: Branches,
  minItems: Schema.optionalKey(Schema.Finite),
  minLength: Schema.optionalKey(Schema.Finite),
  maxLength: Schema.optionalKey(Schema.Finite),
  minimum: Schema.optionalKey(Schema.Finite),
  pattern: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  additionalProperties: Schema.optionalKey(Schema.Union([Schema.Boolean, Inner]))
})

const Operation = Schema.Struct({
  requestBody: Schema.optionalKey(
    Schema.Struct({ content: Schema.Record(Schema.String, Schema.Struct({ schema: JsonSchema })) })
  ),
  parameters: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ name: Schema.String, in: Schema.String, required: Schema.Boolean, schema: JsonSchema })
    )
  ),
  responses: Schema.Record(Schema.String, Schema.Unknown)
})
export type Operation = typeof Operation.Type

const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, JsonSchema) })
})

const document = Schema.decodeUnknownSync(Document)(JSON.parse(JSON.stringify(OpenApi.fromApi(SvcApi))))

const named: Readonly<Record<string, string>> = {
  ...world,
  fromWorkspaceId: world.workspaceA,
  toWorkspaceId: world.workspaceB,
  workspaceId: world.workspaceA,
  producerCapsuleId: world.capsuleId,
  baseInstallConfigId: world.capsuleConfigId,
  modulePath: ".",
  path: ".",
  ref: "refs/heads/main",
  url: "https://git.example.test/app.git",
  provider: "registry.opentofu.org/hashicorp/null",
  scopes: "read",
  capsuleIds: world.capsuleId
}
const texts = ["app", "2030-01-01T00:00:00.000Z", "0".repeat(40), `sha256:${"0".repeat(64)}`, ...Object.values(world)]

const textFor = (schema: JsonSchema, name: string): string => {
  const fits = (text: string) =>
    text.length >= (schema.minLength ?? 0) &&
    text.length <= (schema.maxLength ?? Number.POSITIVE_INFINITY) &&
    (schema.pattern === undefined || new RegExp(schema.pattern, "u").test(text))
  return [...(named[name] === undefined ? [] : [named[name]]), ...texts].find(fits) ?? "x".repeat(schema.minLength ?? 1)
}

/** Follows a reference to its schema, and returns other schemas unchanged. */
export const resolve = (schema: JsonSchema): JsonSchema => {
  if (schema.$ref === undefined) return schema
  const found = document.components.schemas[decodeURIComponent(schema.$ref.split("/").at(-1) ?? "")]
  return found === undefined ? {} : resolve(found)
}

/** Generates the smallest value that a schema admits, with required members only. */
export const exampleOf = (given: JsonSchema, name = ""): Schema.Json => {
  const schema = resolve(given)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0] ?? null
  const branch = (schema.anyOf ?? schema.oneOf)?.[0]
  if (branch !== undefined) return exampleOf(branch, name)
  if (schema.allOf !== undefined)
    return exampleOf(Object.assign({}, schema, { allOf: undefined }, ...schema.allOf.map(resolve)), name)
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0]
  switch (type) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [key, exampleOf(schema.properties?.[key] ?? {}, key)])
      )
    case "array": {
      const items = schema.items === undefined || schema.items === false ? {} : schema.items
      return Array.from({ length: schema.minItems ?? 0 }, (_, at) => exampleOf(schema.prefixItems?.[at] ?? items, name))
    }
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 1, 1)
    case "boolean":
      return true
    case "null":
      return null
    case "string":
      return textFor(schema, name)
    default:
      return {}
  }
}

/** Lists the operations of the document, with their paths in the router's notation. */
export const operations: ReadonlyArray<{
  readonly method: string
  readonly path: string
  readonly operation: Operation
}> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, ":$1"),
    operation
  }))
)

export const bodySchema = (operation: Operation): JsonSchema | undefined => {
  const [content] = Object.values(operation.requestBody?.content ?? {})
  return content?.schema
}

/** Generates a body that the route's schema admits; `undefined` if the route accepts none. */
export const exampleBody = (method: string, path: string): Schema.Json | undefined => {
  const found = operations.find((known) => known.method === method && known.path === path)
  const schema = found === undefined ? undefined : bodySchema(found.operation)
  return schema === undefined ? undefined : exampleOf(schema)
}
