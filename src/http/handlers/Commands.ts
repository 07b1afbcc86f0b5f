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

/** The Workspace for which this request was authorised. */
export const authorisedWorkspace: Effect.Effect<WorkspaceId, never, Caller> = Effect.flatMap(
  Caller,
  ({ workspaceId }) =>
    workspaceId === undefined ? Effect.die(new Error("The route contains no Workspace.")) : Effect.succeed(workspaceId)
)

interface IdSchema<A> extends Schema.Codec<A, string> {}

/** Parses an id from the path. Treats a string that is not an id of this kind as an unknown id. */
export const pathId = <A>(kind: IdSchema<A>, text: string, noun: string): Effect.Effect<A, ApiError> =>
  Effect.mapError(Effect.fromOption(Schema.decodeOption(kind)(text)), () => notFound(noun))

type Header = { readonly "idempotency-key"?: string | undefined }

/** Reads the required idempotency key of a create request, with the digest of the request. */
export const idempotent = (headers: Header, request: Schema.Json): Effect.Effect<IdempotentRequest, ApiError> =>
  Effect.map(parseIdempotencyKey(headers["idempotency-key"]), (key) => ({
    key,
    requestDigest: requestDigest(request)
  }))

/** Like `idempotent`, but the key is optional. */
export const maybeIdempotent = (
  headers: Header,
  request: Schema.Json
): Effect.Effect<IdempotentRequest | undefined, ApiError> =>
  headers["idempotency-key"] === undefined ? Effect.undefined : idempotent(headers, request)

/** Returns the requested page, together with the caller, because a cursor is valid only for the caller who received it. */
export const pageRequest = (query: {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}): Effect.Effect<PageRequest, never, Caller> =>
  Effect.map(Caller, ({ subject }) => ({ limit: query.limit ?? defaultPageLimit, cursor: query.cursor, subject }))

/** Returns the cursor to the next page for the response, if there is a next page. */
export const cursorOf = (page: Page<unknown>): { readonly nextCursor?: string } =>
  page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }

/** Returns the success statuses that an endpoint declares. */
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
 * Builds the responses of an endpoint with several success statuses. An undeclared status is a defect at startup, because a
 * client generated from the API definition could not read the response.
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

/** Builds the responses of an endpoint with an `Idempotency-Key`: 201 for the first request, and 200 for a repeat. */
export const repeatableAnswer = <S extends Schema.Codec<unknown, unknown>>(
  endpoint: HttpApiEndpoint.Top,
  schema: S
) => {
  const respond = answer(endpoint, schema, 201, 200)
  return (value: S["Type"], replayed: boolean) => respond(value, replayed ? 200 : 201)
}
