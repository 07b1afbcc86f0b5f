import { Schema } from "effect"
import { FindMyWay } from "effect/http"
import { OpenApi } from "effect/http-api"
import { describedApi } from "../../../src/http/OpenApiDocument.ts"
import { routerConfig } from "../../../src/http/UnknownRoutes.ts"

const Reference = Schema.Struct({ $ref: Schema.String })
const Header = Schema.Struct({ required: Schema.optionalKey(Schema.Boolean), schema: Schema.Json })
const Response = Schema.Struct({
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([Reference, Header]))),
  content: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct({ schema: Schema.Json }))),
  "x-websocket": Schema.optionalKey(Schema.Struct({ message: Schema.Json }))
})
const Parameter = Schema.Struct({ name: Schema.String, in: Schema.String, required: Schema.Boolean })
const Operation = Schema.Struct({
  operationId: Schema.String,
  parameters: Schema.Array(Parameter),
  responses: Schema.Record(Schema.String, Schema.Union([Reference, Response]))
})
const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({
    schemas: Schema.Record(Schema.String, Schema.Json),
    responses: Schema.Record(Schema.String, Response),
    headers: Schema.Record(Schema.String, Header)
  })
})

/** One described response: its headers and media types, with references resolved. */
export interface DescribedResponse {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly required: boolean; readonly schema: Schema.Json }>
  /** Keyed by media type; empty for a response without a body. */
  readonly content: ReadonlyMap<string, Schema.Json>
  /** The frames of the WebSocket to which the connection is upgraded. */
  readonly message?: Schema.Json | undefined
}

export interface DescribedOperation {
  readonly name: string
  /** Names of required request headers, in lower case. */
  readonly requiredHeaders: ReadonlyArray<string>
  readonly responses: ReadonlyMap<number, DescribedResponse>
}

const nameOf = (reference: string) => reference.split("/").at(-1) ?? ""

/** The server's description, prepared for lookups. */
export interface ServerDescription {
  readonly schemas: Readonly<Record<string, Schema.Json>>
  readonly operation: (method: string, path: string) => DescribedOperation | undefined
}

const read = (): ServerDescription => {
  const json: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(describedApi())))
  const { components, paths } = Schema.decodeUnknownSync(Document)(json)
  const headerOf = (header: typeof Reference.Type | typeof Header.Type) =>
    "$ref" in header ? components.headers[nameOf(header.$ref)] : header
  const responseOf = (given: typeof Reference.Type | typeof Response.Type): DescribedResponse => {
    const response = "$ref" in given ? (components.responses[nameOf(given.$ref)] ?? {}) : given
    const { content = {}, headers = {} } = response
    return {
      headers: Object.entries(headers).map(([name, header]) => {
        const found = headerOf(header)
        return { name, required: found?.required ?? false, schema: found?.schema ?? false }
      }),
      content: new Map(Object.entries(content).map(([type, { schema }]) => [type, schema])),
      message: response["x-websocket"]?.message
    }
  }
  const routes = FindMyWay.make<DescribedOperation>(routerConfig)
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const described = {
        name: operation.operationId,
        requiredHeaders: operation.parameters
          .filter((parameter) => parameter.in === "header" && parameter.required)
          .map(({ name }) => name),
        responses: new Map(
          Object.entries(operation.responses).map(([status, response]) => [Number(status), responseOf(response)])
        )
      }
      routes.on(asMethod(method), `/${path.slice(1).replace(/\{(\w+)\}/g, ":$1")}`, described)
    }
  }
  return {
    schemas: components.schemas,
    operation: (method, path) => routes.find(asMethod(method), path)?.handler
  }
}

const methods = { get: "GET", head: "GET", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" } as const
const isMethod = (text: string): text is keyof typeof methods => text in methods
const asMethod = (method: string) => {
  const lower = method.toLowerCase()
  return isMethod(lower) ? methods[lower] : "TRACE"
}

let made: ServerDescription | undefined

/** Returns the server's description, which is built when a process checks its first response. */
export const serverDescription = (): ServerDescription => (made ??= read())
