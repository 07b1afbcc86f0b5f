import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js"
import type { Schema } from "effect"
import { type DescribedOperation, type DescribedResponse, serverDescription } from "./ServerDescription.ts"

/** A response as received by a test. `body` is absent unless it is text and has been read. */
export interface SeenAnswer {
  readonly method: string
  readonly url: string
  readonly requestHeaders: Headers
  readonly status: number
  readonly headers: Headers
  readonly body?: string | undefined
}

const components = "#/components/schemas/"
const idOf = (name: string) => `https://svc.example.test/schemas/${name}`

const withIds = (schema: Schema.Json): Schema.Json => {
  if (Array.isArray(schema)) return schema.map(withIds)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === "$ref" && typeof value === "string" ? idOf(value.slice(components.length)) : withIds(value)
    ])
  )
}

// Compiles each component only once as a separate schema, instead of once for every response that refers to the component.
const makeAjv = () => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false })
  for (const [name, schema] of Object.entries(serverDescription().schemas)) {
    ajv.addSchema(Object(withIds(schema)), idOf(name))
  }
  return ajv
}
let made: ReturnType<typeof makeAjv> | undefined
const compiled = new WeakMap<object, ValidateFunction>()

const validatorOf = (schema: Schema.Json): ValidateFunction => {
  const key = typeof schema === "object" && schema !== null ? schema : {}
  const known = compiled.get(key)
  if (known !== undefined) return known
  const validate = (made ??= makeAjv()).compile(Object(withIds(schema)))
  compiled.set(key, validate)
  return validate
}

/** Returns the path, if any, at which a value violates the schema. */
export const schemaFault = (schema: Schema.Json, value: unknown): string | undefined => {
  const validate = validatorOf(schema)
  if (validate(value) === true) return undefined
  const [first] = validate.errors ?? []
  return `${first?.instancePath === "" ? "the value" : first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`
}

const parsed = (text: string): unknown => JSON.parse(text)

const headerFault = ({ headers }: DescribedResponse, seen: Headers) => {
  for (const { name, required, schema } of headers) {
    const value = seen.get(name)
    if (value === null) {
      // Bun itself responds to the upgrade.
      if (required) return `the header ${name} is missing`
      continue
    }
    const wantsNumber = JSON.stringify(schema).includes('"integer"')
    const fault = schemaFault(schema, wantsNumber && /^\d+$/.test(value) ? Number(value) : value)
    if (fault !== undefined) return `header ${name}: ${fault}`
  }
  return undefined
}

const bodyFault = ({ content }: DescribedResponse, { body, headers, method }: SeenAnswer) => {
  if (body === undefined || method === "HEAD") return undefined
  if (content.size === 0) return body === "" ? undefined : "it has a body, and none is described"
  const type = (headers.get("content-type") ?? "").split(";")[0]?.trim() ?? ""
  const schema = content.get(type)
  if (schema === undefined)
    return `its type is ${type === "" ? "not named" : type}, and described are ${[...content.keys()].join(", ")}`
  return /[/+]json$/.test(type) ? schemaFault(schema, parsed(body)) : undefined
}

const faultOf = (operation: DescribedOperation, answer: SeenAnswer): string | undefined => {
  const response = operation.responses.get(answer.status)
  if (response === undefined) {
    return `the status is not described; described are ${[...operation.responses.keys()].join(", ")}`
  }
  const missing = operation.requiredHeaders.find((name) => !answer.requestHeaders.has(name))
  if (missing !== undefined && answer.status < 300) return `it was answered without the required header ${missing}`
  if (answer.body?.includes('"idempotency_key_required"') === true && answer.status === 400) {
    if (!operation.requiredHeaders.includes("idempotency-key"))
      return "it asks for an Idempotency-Key that is not described as required"
  }
  return headerFault(response, answer.headers) ?? bodyFault(response, answer)
}

/** Returns the difference between an example and the described response. */
export const exampleFault = (method: string, path: string, status: number, example: string): string | undefined => {
  const schema = serverDescription().operation(method, path)?.responses.get(status)?.content.get("application/json")
  return schema === undefined ? "no such answer is described" : schemaFault(schema, parsed(example))
}

/** Returns the difference between a frame in a live stream and its route's description. */
export const frameFault = (url: string, text: string, by: "event" | "message"): string | undefined => {
  const { pathname } = new URL(url)
  const operation = serverDescription().operation("GET", pathname)
  const schema =
    by === "message"
      ? operation?.responses.get(101)?.message
      : operation?.responses.get(200)?.content.get("text/event-stream")
  if (schema === undefined) return `${pathname} sent a frame, and no stream is described.`
  const fault = schemaFault(schema, parsed(text))
  return fault === undefined ? undefined : `A frame of ${pathname} (${operation?.name}): ${fault}.`
}

/**
 * Returns how a response from this server deviates from the documented response; `undefined` if the response matches, or if
 * no route produced it.
 */
export const answerFault = (answer: SeenAnswer): string | undefined => {
  const { pathname } = new URL(answer.url)
  const operation = serverDescription().operation(answer.method, pathname)
  if (operation === undefined) return undefined
  const fault = faultOf(operation, answer)
  return fault === undefined
    ? undefined
    : `${answer.method} ${pathname} (${operation.name}) answered ${answer.status}: ${fault}.`
}
