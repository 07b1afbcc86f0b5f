import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { invalidToken } from "../../../actors/base/credential/CredentialRefusal.ts"
import { TokenAuthority } from "../../../actors/access/account/TokenAuthority.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { AccessTokenId } from "../../../schema/records/Ids.ts"
import { commandContext, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

/** The owner of the tokens. */
const owner = Effect.map(Caller, ({ subject }) => subject)

const bearerPattern = /^bearer ([A-Za-z0-9._~+/-]{1,512}={0,2})$/i

/** Reads the bearer token from the Authorization header. Ignores cookies, other headers, the query and the body. */
const presentedBearer = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const header = headers["authorization"]
  if (header === undefined) {
    return yield* new ApiError({
      code: "invalid_token",
      message: "Send the token as `Authorization: Bearer <token>`. Cookies and other places are not looked at."
    })
  }
  const token = bearerPattern.exec(header)?.[1]
  return token === undefined ? yield* invalidToken() : Redacted.make(token)
})

/** Handlers for personal access tokens. */
export const tokenHandlers = HttpApiBuilder.group(
  SvcApi,
  "accountTokens",
  Effect.fn(function* (handlers) {
    const tokens = yield* AccessTokens
    const authority = yield* TokenAuthority
    return storedAnswers("accountTokens", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* tokens.list(yield* owner, yield* pageRequest(query))
        return {
          tokens: page.items,
          ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor })
        }
      }),
      scopes: () => Effect.succeed({ kind: "svc.account-pat-scope-catalog@v1", scopes: tokens.catalog } as const),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { secret, token } = yield* tokens.create(yield* commandContext, yield* owner, {
          name: payload.name,
          scopes: payload.scopes,
          workspaceId: payload.workspace_id,
          expiresAt: payload.expires_at
        })
        return { token: Redacted.value(secret), token_record: token }
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        return {
          token_record: yield* tokens.revoke(
            yield* commandContext,
            yield* owner,
            yield* pathId(AccessTokenId, params.tokenId, "Token")
          )
        }
      }),
      inventory: Effect.fnUntraced(function* ({ query }) {
        return yield* tokens.inventory(yield* owner, yield* pageRequest(query))
      }),
      current: Effect.fnUntraced(function* () {
        return yield* authority.current(yield* presentedBearer)
      })
    })
  })
)
