import { Effect, Schema } from "effect"
import { type ServerDescription, serverDescription } from "../../support/description/ServerDescription.ts"

/** Maximum number of list entries in an example. */
const mostEntries = 2

const shortened = (value: Schema.Json): Schema.Json => {
  if (Array.isArray(value)) return value.slice(0, mostEntries).map(shortened)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]))
}

const decodeJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

export interface Sent {
  readonly body?: Schema.Json
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls a server as a signed-in person, and keeps the first good response for each operation and status. */
export const recorder = (server: { readonly url: string; readonly origin: string; readonly cookie: string }) => {
  const examples = new Map<string, Schema.Json>()
  const description: ServerDescription = serverDescription()
  const call = (method: string, path: string, { body, headers }: Sent = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`${server.url}${path}`, {
        method,
        redirect: "manual",
        headers: { cookie: server.cookie, origin: server.origin, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
      const answer = isJson ? decodeJson(await response.text()) : null
      const name = description.operation(method, new URL(path, server.url).pathname)?.name
      const key = `${name} ${response.status}`
      if (isJson && response.ok && !examples.has(key)) examples.set(key, shortened(answer))
      return { status: response.status, answer }
    })
  return { call, examples }
}

/**
 * Returns the text at a path of keys in a response. Exits the program if the text is missing, because every later step needs
 * it.
 */
export const textAt = (answer: Schema.Json, ...path: ReadonlyArray<string | number>): string => {
  let value: unknown = answer
  for (const key of path) value = Object(value)[key]
  if (typeof value !== "string") throw new Error(`No text at ${path.join(".")} of ${JSON.stringify(answer)}`)
  return value
}
