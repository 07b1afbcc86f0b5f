import { errorStatuses } from "../../../schema/errors/ApiError.ts"
import { securitySchemes } from "./AccessDescription.ts"
import { isObject, type JsonObject, withoutNull, withPlainSchemas } from "./DocumentSchemas.ts"
import { isRequiredKey } from "../../../schema/api/IdempotencyHeaders.ts"
import { numberOf } from "../../../schema/api/WholeNumber.ts"
import type { QueuePlace } from "../../../schema/records/QueuePlace.ts"

type FieldProse<R extends { readonly fields: object }> = { readonly [Field in keyof R["fields"]]?: string }

/** Descriptions of record fields whose names are not self-explanatory, keyed by the record's name in the document. */
const recordProse: { readonly QueuePlace: FieldProse<typeof QueuePlace> } = {
  QueuePlace: {
    position:
      "Place in the line that the reason names, 1 being the next to start. With capsule_busy: among the Runs of the Capsule, the running one included. Otherwise: among the Runs of the Workspace that wait for a place of the same pool, in the order in which they start.",
    pool: "Which places it waits for: builds (syncs, compatibility checks, plans with a source build), agents (those of the pool that the Run is for) or runs (everything else).",
    reason:
      "capsule_busy: another Run of the Capsule goes first. workspace_limit: the Workspace has as many Runs executing as it may. places_taken: every place of the pool is taken. place_kept: a drift check leaves the last free place to what a person may ask for. no_agent: no agent of its pool can execute it now, and the message says why. turn: nothing is in its way but the turn of others.",
    message: "The reason as a sentence.",
    missing:
      "With no_agent: what is missing. Several properties where one connected agent lacks the one and another the other.",
    heldByRunId: "The Run of the same Workspace that it waits for, where there is one.",
    limit: "The limit that was reached, with workspace_limit, places_taken and place_kept."
  }
}

const to = (section: string, name: string) => ({ $ref: `#/components/${section}/${name}` })

const headers = {
  RequestId: {
    description: "Id of this request; the same as `requestId` in an error, and in the operator's log.",
    required: true,
    schema: { type: "string", minLength: 1 }
  },
  RetryAfter: {
    description: "Seconds until another attempt makes sense.",
    required: false,
    schema: { type: "integer", minimum: 0 }
  },
  Challenge: {
    description: "The permission that the credential lacked (RFC 6750).",
    required: false,
    schema: { type: "string" }
  },
  Allow: {
    description: "The methods of this path.",
    required: false,
    schema: { type: "string" }
  }
} as const

const everywhere = { "x-request-id": to("headers", "RequestId") }

/** The refusals that all operations share, keyed by status. */
const refusals: Readonly<
  Record<number, { readonly name: string; readonly headers?: Readonly<Record<string, { readonly $ref: string }>> }>
> = {
  400: { name: "InvalidRequest" },
  401: { name: "Unauthenticated", headers: { "www-authenticate": to("headers", "Challenge") } },
  403: { name: "Forbidden", headers: { "www-authenticate": to("headers", "Challenge") } },
  404: { name: "NotFound" },
  405: { name: "MethodNotAllowed", headers: { allow: to("headers", "Allow") } },
  409: { name: "Conflict" },
  413: { name: "RequestTooLarge" },
  415: { name: "UnsupportedMediaType" },
  422: { name: "Unprocessable" },
  429: { name: "RateLimited", headers: { "retry-after": to("headers", "RetryAfter") } },
  500: { name: "InternalError" },
  501: { name: "CapabilityNotAvailable" },
  503: { name: "Unavailable", headers: { "retry-after": to("headers", "RetryAfter") } }
}

const codesOf = (status: number) =>
  Object.entries(errorStatuses)
    .filter(([, candidate]) => candidate === status)
    .map(([code]) => `\`${code}\``)
    .join(", ")

const envelope = to("schemas", "ErrorEnvelope")
const envelopeContent = JSON.stringify({ "application/json": { schema: envelope } })
const isEnvelope = (response: JsonObject) => JSON.stringify(response["content"]) === envelopeContent

const sharedResponses = Object.fromEntries(
  Object.entries(refusals).map(([status, refusal]) => [
    refusal.name,
    {
      description: codesOf(Number(status)),
      headers: { ...everywhere, ...refusal.headers },
      content: { "application/json": { schema: envelope } }
    }
  ])
)

const successes: Readonly<Record<string, string>> = {
  "200": "Done.",
  "201": "Created.",
  "202": "Accepted.",
  "204": "Done; there is nothing to return.",
  "303": "The browser continues at `Location`.",
  "304": "Unchanged."
}

const isPlain = (description: unknown) =>
  description === "Success" || description === "Error" || description === "<No Content>"

/**
 * Documents an operation's responses. Each refusal references the shared description, and each response lists its headers.
 */
const documentedResponses = (responses: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(responses) ? responses : {}).map(([status, response]) => {
      if (!isObject(response)) return [status, response]
      const refusal = refusals[Number(status)]
      if (refusal !== undefined && isEnvelope(response)) return [status, to("responses", refusal.name)]
      const given = isObject(response["headers"]) ? response["headers"] : {}
      return [
        status,
        {
          ...response,
          description: isPlain(response["description"])
            ? (successes[status] ?? codesOf(Number(status)))
            : response["description"],
          headers: { ...everywhere, ...refusal?.headers, ...given }
        }
      ]
    })
  )

const documentedParameter = (parameter: unknown): unknown => {
  if (!isObject(parameter) || !isObject(parameter["schema"])) return parameter
  const { description, ...schema } = parameter["schema"]
  return {
    ...parameter,
    ...(description === undefined ? {} : { description }),
    required: parameter["required"] === true || isRequiredKey(description),
    schema: numberOf(description) ?? schema
  }
}

const documentedBody = (body: unknown): unknown => {
  if (!isObject(body) || !isObject(body["content"])) return body
  const json = body["content"]["application/json"]
  if (!isObject(json) || !isObject(json["schema"])) return body
  const { optional, schema } = withoutNull(json["schema"])
  return { ...body, content: { ...body["content"], "application/json": { ...json, schema } }, required: !optional }
}

/** Completes an operation of the document with details that its schemas cannot express. */
export const documentedOperation = (
  operation: JsonObject,
  security: ReadonlyArray<Readonly<Record<string, unknown>>>
): JsonObject => ({
  ...operation,
  parameters: Array.isArray(operation["parameters"]) ? operation["parameters"].map(documentedParameter) : [],
  ...(operation["requestBody"] === undefined ? {} : { requestBody: documentedBody(operation["requestBody"]) }),
  security,
  responses: documentedResponses(operation["responses"])
})

const page = { "text/html": { schema: { type: "string" } } }

const redirected = {
  description: successes["303"],
  headers: { ...everywhere, location: { required: true, schema: { type: "string" } } }
}

const showsPage = (response: unknown): boolean =>
  isObject(response) && isObject(response["content"]) && Object.hasOwn(response["content"], "text/html")

/**
 * Documents an operation that browsers reach through a redirect. The response redirects a browser or shows a page, whereas
 * other clients get JSON.
 */
export const withPages = (operation: JsonObject): JsonObject => {
  const responses = isObject(operation["responses"]) ? operation["responses"] : {}
  const refused = Object.entries(refusals).map(([status, { name }]) => {
    const shared = sharedResponses[name]
    return [status, { ...shared, content: { ...shared?.content, ...page } }]
  })
  return {
    ...operation,
    responses: {
      ...responses,
      ...(showsPage(responses["200"]) ? {} : { "303": redirected }),
      ...Object.fromEntries(refused)
    }
  }
}

const described = (schema: unknown, words: Readonly<Record<string, string | undefined>>): unknown => {
  if (!isObject(schema) || !isObject(schema["properties"])) return schema
  const properties = Object.entries(schema["properties"]).map(([field, inner]) => {
    const description = words[field]
    return [field, description !== undefined && isObject(inner) ? { ...inner, description } : inner]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

const wordsOf: ReadonlyMap<string, Readonly<Record<string, string | undefined>>> = new Map(Object.entries(recordProse))

/** Adds field descriptions to the records. */
const describedRecords = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, described(schema, wordsOf.get(name) ?? {})])
  )

/** Adds the shared components to which operations refer, and the descriptions of credentials. */
export const withDocumentParts = (document: JsonObject): JsonObject => {
  const components = isObject(document["components"]) ? document["components"] : {}
  const schemas = isObject(components["schemas"]) ? components["schemas"] : {}
  return withPlainSchemas({
    ...document,
    components: {
      ...components,
      schemas: describedRecords(schemas),
      responses: sharedResponses,
      headers,
      securitySchemes
    }
  })
}
