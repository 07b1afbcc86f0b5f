import { Context, Effect, Layer, type SchemaAST } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { accessOf } from "../../../schema/api/Roles.ts"
import { BrowserLanding } from "../../../schema/api/BrowserLanding.ts"
import { BodyLimits } from "../../../schema/api/Middleware.ts"
import { invalidRequest } from "../../../schema/errors/ApiError.ts"
import { whenTraced } from "../../http-kit/WhenTraced.ts"
import { RawBody } from "../../../schema/api/RawBody.ts"
import { bodyLimitsOf, readFileBody, readJsonBody } from "../../http-kit/RequestBody.ts"
import { requestedName } from "../../http-kit/SchemaFault.ts"

const bodyMethods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"])

const isEmptyObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0

const queryKeys = (endpoint: HttpApiEndpoint.Top): ReadonlySet<string> => {
  const ast = endpoint.query?.ast
  return new Set(
    ast !== undefined && ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
  )
}

const admitsNothing = (ast: SchemaAST.AST): boolean => {
  if (ast._tag === "Undefined") return true
  if (ast._tag === "Union") return ast.types.every(admitsNothing)
  return ast._tag === "Objects" && ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0
}

// Returns true if the body of the endpoint has fields. A struct without fields accepts every object, so an endpoint that
// declares one is treated as having no body.
const takesFields = (endpoint: HttpApiEndpoint.Top): boolean =>
  [...endpoint.payload.values()].some(({ schemas }) => schemas.some(({ ast }) => !admitsNothing(ast)))

// Treats an empty body as an empty object, so that the error lists any missing fields.
const withEmptyObject = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
  const headers = new Headers({ ...request.headers, "content-type": "application/json" })
  headers.delete("content-length")
  return HttpServerRequest.fromWeb(new Request(request.originalUrl, { method: request.method, headers, body: "{}" }))
})

/** Checks a body against its limits before it is decoded, and refuses query parameters that the route does not have. */
export const bodyLimitsLayer: Layer.Layer<BodyLimits> = Layer.succeed(BodyLimits, (httpEffect, { endpoint, group }) => {
  const name = `${group.identifier}.${endpoint.identifier}`
  const limits = bodyLimitsOf(name)
  const handled = whenTraced(name, httpEffect)
  const known = queryKeys(endpoint)
  // A route that reads only the bearer token ignores the query string, even if it contains a token.
  const bearerAlone = accessOf(endpoint).kind === "token"
  const takesAnyQuery = bearerAlone || Context.get(endpoint.annotations, BrowserLanding)
  const takesBody = takesFields(endpoint)
  const declaresBody = endpoint.payload.size > 0
  const withBody = Effect.gen(function* () {
    // Caches the checked bytes on the request, so that the API decodes the same bytes.
    const body = yield* readJsonBody(limits)
    if (body !== undefined && !takesBody && !isEmptyObject(body)) {
      return yield* invalidRequest("This route takes no body. Send none, or an empty object.")
    }
    return body === undefined && declaresBody
      ? yield* Effect.provideServiceEffect(handled, HttpServerRequest.HttpServerRequest, withEmptyObject)
      : yield* handled
  })
  const file = Context.get(endpoint.annotations, RawBody)
  const checked =
    file !== undefined
      ? Effect.andThen(readFileBody(file), handled)
      : bodyMethods.has(endpoint.method)
        ? withBody
        : handled
  if (takesAnyQuery) return checked
  return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) => {
    for (const key in query) {
      if (!known.has(key)) {
        return invalidRequest(`The request is not valid. query.${requestedName(key)}: is not a known field`)
      }
    }
    return checked
  })
})
