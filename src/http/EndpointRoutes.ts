import { Context, Effect, Exit, Layer, Result, Schema, type SchemaAST } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiEndpoint, HttpApiError, type HttpApiGroup } from "effect/http-api"
import { hasProperty } from "effect/Predicate"
import type { Authorization, BodyLimits, Envelope } from "../../schema/api/Middleware.ts"
import { SvcApi } from "../../schema/api/SvcApi.ts"
import { answersOf } from "./handlers/StoredAnswers.ts"
import { rememberedAnswers } from "./RememberedAnswers.ts"

/**
 * A handler as registered by `HttpApiBuilder.group`. Its failures are wrapped in the envelope; its services are provided by each
 * request.
 */
interface Registered {
  readonly endpoint: HttpApiEndpoint.Top
  readonly handler: (request: object) => Effect.Effect<unknown>
}

const isRegistered = (value: unknown): value is Registered =>
  hasProperty(value, "endpoint") &&
  HttpApiEndpoint.isHttpApiEndpoint(value.endpoint) &&
  hasProperty(value, "handler") &&
  typeof value.handler === "function"

/** The handlers and the built routes of a group, in the same order. */
interface Group {
  readonly handlers: ReadonlyMap<string, unknown>
  readonly routes: ReadonlyArray<HttpRouter.Route<never, never>>
}

const isGroup = (value: unknown): value is Group =>
  hasProperty(value, "handlers") &&
  value.handlers instanceof Map &&
  hasProperty(value, "routes") &&
  Array.isArray(value.routes) &&
  value.routes.length === value.handlers.size

type Part = "Params" | "Headers" | "Query"
type Decode = (given: unknown) => Exit.Exit<unknown>

const isPlainText = (ast: SchemaAST.AST): boolean =>
  ast._tag === "String" && ast.encoding === undefined && ast.checks === undefined

/** Returns true if any string is valid for each of these names. The router provides only strings. */
const isAnyText = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Objects" &&
  ast.encoding === undefined &&
  ast.checks === undefined &&
  ast.indexSignatures.length === 0 &&
  ast.propertySignatures.every(({ type }) => isPlainText(type))

const decoding = (part: Part, schema: Schema.Top | undefined): Decode | undefined => {
  if (schema === undefined) return undefined
  if (part === "Params" && isAnyText(schema.ast)) return Exit.succeed
  const decode = Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(schema.ast))
  return (given) => {
    const decoded = decode(given)
    return Result.isSuccess(decoded)
      ? Exit.succeed(decoded.success)
      : Exit.die(new HttpApiError.HttpApiSchemaError({ kind: part, cause: decoded.failure }))
  }
}

/** A handler's arguments, decoded by its endpoint's declaration. */
const requestOf = (group: HttpApiGroup.Top, endpoint: HttpApiEndpoint.Top) => {
  const params = decoding("Params", endpoint.params)
  const headers = decoding("Headers", endpoint.headers)
  const query = decoding("Query", endpoint.query && Schema.toCodecArrayFromSingle(endpoint.query))
  return (context: Context.Context<never>): Exit.Exit<object> => {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    const decoded: Record<string, unknown> = { request, endpoint, group }
    if (params !== undefined) {
      const found = params(Context.getUnsafe(context, HttpRouter.RouteContext).params)
      if (Exit.isFailure(found)) return Exit.failCause(found.cause)
      decoded["params"] = found.value
    }
    if (headers !== undefined) {
      const found = headers(request.headers)
      if (Exit.isFailure(found)) return Exit.failCause(found.cause)
      decoded["headers"] = found.value
    }
    if (query !== undefined) {
      const found = query(Context.getUnsafe(context, HttpServerRequest.ParsedSearchParams))
      if (Exit.isFailure(found)) return Exit.failCause(found.cause)
      decoded["query"] = found.value
    }
    return Exit.succeed(decoded)
  }
}

const unanswered = Effect.die(new Error("The handler of a read gave no response."))

const toResponse = (value: unknown) =>
  HttpServerResponse.isHttpServerResponse(value) ? Effect.succeed(value) : unanswered

/** The internals of `HttpApiBuilder` are undocumented, so another version may differ; startup then fails. */
const unknownShape = (group: HttpApiGroup.Top) =>
  new Error(
    `The handlers of the group ${group.identifier} of the API are missing, or kept in another way than expected.`
  )

/** An API middleware, wrapped around what it guards. The outermost one turns its failures into an envelope. */
type Middleware = (
  handled: Effect.Effect<HttpServerResponse.HttpServerResponse>,
  options: { readonly endpoint: HttpApiEndpoint.Top; readonly group: HttpApiGroup.Top }
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** The services that hold the handlers of an API, one per group. */
type Groups<Api> = Api extends HttpApi.HttpApi<infer Id, infer Declared> ? HttpApiGroup.ToService<Id, Declared> : never

type Needs = Groups<typeof SvcApi> | Authorization | BodyLimits | Envelope

/**
 * The routes of the API. `HttpApiBuilder.layer` gives each request a new map of all services, since the handlers of a group may
 * have their own services. These handlers have none, so reads run with the request's services.
 */
export const endpointRoutes: Layer.Layer<never, never, Needs | HttpRouter.HttpRouter> = Layer.unwrap(
  Effect.zipWith(Effect.context<Needs>(), rememberedAnswers, (services, remembered) => {
    const readRoute = (
      group: HttpApiGroup.Top,
      { endpoint, handler }: Registered,
      { method, path, uninterruptible }: HttpRouter.Route<never, never>
    ) => {
      const decoded = requestOf(group, endpoint)
      let answered = Effect.withFiber<HttpServerResponse.HttpServerResponse>(({ context }) => {
        const request = decoded(context)
        return Exit.isSuccess(request)
          ? Effect.flatMap(handler(request.value), toResponse)
          : Effect.failCause(request.cause)
      })
      answered = remembered(endpoint, answered)
      for (const key of endpoint.middlewares) {
        const middleware: Middleware = Context.getUnsafe(services, key)
        answered = middleware(answered, { endpoint, group })
      }
      return HttpRouter.route(method, path, answered, { uninterruptible })
    }

    const routes: Array<HttpRouter.Route<never, never>> = []
    HttpApi.reflect(SvcApi, {
      // Only groups are visited: collecting the answers of their endpoints would be for nothing.
      predicate: () => false,
      onGroup: ({ group }) => {
        const registered = services.mapUnsafe.get(group.key)
        if (!isGroup(registered)) throw unknownShape(group)
        const stored = answersOf(group.identifier)
        const handlers = [...registered.handlers.values()]
        for (const [index, built] of registered.routes.entries()) {
          const one = handlers[index]
          if (!isRegistered(one)) throw unknownShape(group)
          routes.push(stored.has(one.endpoint.identifier) ? readRoute(group, one, built) : built)
        }
      },
      onEndpoint: () => {}
    })
    return HttpRouter.addAll(routes)
  })
)
