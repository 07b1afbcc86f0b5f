import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import type { CommandContext, IdempotentRequest } from "../../../schema/commands/Command.ts"
import { parseIdempotencyKey } from "../../../actors/base/idempotency/Receipts.ts"
import { requestDigest } from "../../../actors/base/idempotency/RequestDigest.ts"
import type { Page, PageRequest } from "../../../actors/base/paging/RowPages.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { defaultPageLimit } from "../../../schema/api/Paging.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"

/** The caller of this request in the form that actors expect. Idempotency keys of different credentials never collide. */
export const commandContext: Effect.Effect<CommandContext, never, Caller> = Effect.map(Caller, (caller) => ({
  actor: caller.actor,
  actorKey: caller.credential === "session" ? caller.subject : caller.credentialId,
  requestId: caller.requestId
}))

/** The Workspace that this request was authorised for. */
export const authorisedWorkspace: Effect.Effect<WorkspaceId, never, Caller> = Effect.flatMap(
  Caller,
  ({ workspaceId }) =>
    workspaceId === undefined ? Effect.die(new Error("The route names no Workspace.")) : Effect.succeed(workspaceId)
)

interface IdSchema<A> extends Schema.Codec<A, string> {}

/** An id from the path. A string that is not an id of this kind is treated as unknown. */
export const pathId = <A>(kind: IdSchema<A>, text: string, noun: string): Effect.Effect<A, ApiError> =>
  Effect.mapError(Effect.fromOption(Schema.decodeOption(kind)(text)), () => notFound(noun))

type Header = { readonly "idempotency-key"?: string | undefined }

/** The idempotency key that a create requires, with the digest of the request. */
export const idempotent = (headers: Header, request: Schema.Json): Effect.Effect<IdempotentRequest, ApiError> =>
  Effect.map(parseIdempotencyKey(headers["idempotency-key"]), (key) => ({
    key,
    requestDigest: requestDigest(request)
  }))

/** As above, but the key is optional. */
export const maybeIdempotent = (
  headers: Header,
  request: Schema.Json
): Effect.Effect<IdempotentRequest | undefined, ApiError> =>
  headers["idempotency-key"] === undefined ? Effect.undefined : idempotent(headers, request)

/** The page that this request asks for. Its cursor belongs to the caller. */
export const pageRequest = (query: {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}): Effect.Effect<PageRequest, never, Caller> =>
  Effect.map(Caller, ({ subject }) => ({ limit: query.limit ?? defaultPageLimit, cursor: query.cursor, subject }))

/** A list's cursor as it appears in the response. */
export const cursorOf = (page: Page<unknown>): { readonly nextCursor?: string } =>
  page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }

/** The success statuses that an endpoint declares. */
const declaredStatuses = (endpoint: HttpApiEndpoint.Top): ReadonlySet<number> => {
  const statuses = new Set<number>()
  HttpApi.reflect(SvcApi, {
    predicate: (one) => one.endpoint === endpoint,
    onGroup: () => {},
    onEndpoint: ({ successes }) => {
      for (const status of successes.keys()) statuses.add(status)
    }
  })
  return statuses
}

/**
 * Responses of an endpoint with several success statuses. An undeclared status fails as a defect at startup: a client generated
 * from the API's definition could not read the response.
 */
export const answer = <S extends Schema.Codec<unknown, unknown>, const Status extends number>(
  endpoint: HttpApiEndpoint.Top,
  schema: S,
  ...statuses: ReadonlyArray<Status>
) => {
  const declared = declaredStatuses(endpoint)
  const undeclared = statuses.filter((status) => !declared.has(status))
  if (undeclared.length > 0)
    throw new Error(`${endpoint.path} does not declare that it answers ${undeclared.join(", ")}.`)
  const encode = HttpServerResponse.schemaJson(schema)
  return (value: S["Type"], status: Status) => Effect.orDie(encode(value, { status }))
}

/** Responses of an endpoint that takes an `Idempotency-Key`: 201 the first time, 200 on a repeat. */
export const repeatableAnswer = <S extends Schema.Codec<unknown, unknown>>(
  endpoint: HttpApiEndpoint.Top,
  schema: S
) => {
  const respond = answer(endpoint, schema, 201, 200)
  return (value: S["Type"], replayed: boolean) => respond(value, replayed ? 200 : 201)
}
