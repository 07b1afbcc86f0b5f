import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AutomationTokens } from "../../../actors/access/member/AutomationTokens.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { AccessTokenId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

/** The Workspace, and the caller who manages its members. */
export const memberScope = Effect.gen(function* () {
  const { subject } = yield* Caller
  return { workspaceId: yield* authorisedWorkspace, acting: { subject } }
})

/** Handlers for individual members. */
export const memberHandlers = HttpApiBuilder.group(
  SvcApi,
  "members",
  Effect.fn(function* (handlers) {
    const members = yield* Members
    const tokens = yield* AutomationTokens
    return storedAnswers("members", handlers).handleAll({
      departure: Effect.fnUntraced(function* ({ params }) {
        return { departure: yield* members.departure(yield* memberScope, params.subject) }
      }),
      tokens: Effect.fnUntraced(function* ({ params, query }) {
        const page = yield* tokens.list(yield* memberScope, params.subject, yield* pageRequest(query))
        return { tokens: page.items, ...cursorOf(page) }
      }),
      createToken: Effect.fnUntraced(function* ({ params, payload }) {
        const { secret, token } = yield* tokens.create(
          yield* commandContext,
          yield* memberScope,
          params.subject,
          payload
        )
        return { token: Redacted.value(secret), tokenRecord: token }
      }),
      revokeToken: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(AccessTokenId, params.tokenId, "Token")
        return { tokenRecord: yield* tokens.revoke(yield* commandContext, yield* memberScope, params.subject, id) }
      })
    })
  })
)
