import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvitationAcceptance } from "../../../actors/access/member/InvitationAcceptance.ts"
import { invitationLink, Invitations } from "../../../actors/access/member/Invitations.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { InvitationId } from "../../../schema/records/Ids.ts"
import { AttemptLimits } from "../../accounts/AttemptLimits.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const invitationScope = Effect.gen(function* () {
  const { subject } = yield* Caller
  return { workspaceId: yield* authorisedWorkspace, acting: { subject } }
})

/**
 * Handlers for invitations. Routes without a Workspace in the path are rate-limited, because anybody could try to guess a
 * secret there.
 */
export const invitationHandlers = HttpApiBuilder.group(
  SvcApi,
  "invitations",
  Effect.fn(function* (handlers) {
    const invitations = yield* Invitations
    const acceptance = yield* InvitationAcceptance
    const limits = yield* AttemptLimits
    const { baseUrl } = yield* HttpSettings

    const counted = Effect.gen(function* () {
      const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
      yield* limits.consume("invitation", { address: Option.getOrUndefined(remoteAddress) })
    })

    return storedAnswers("invitations", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { subject } = yield* Caller
        const page = yield* invitations.list(yield* authorisedWorkspace, subject, yield* pageRequest(query))
        return { invitations: page.items, ...cursorOf(page) }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const issued = yield* invitations.create(yield* commandContext, yield* invitationScope, payload)
        return {
          invitation: issued.invitation,
          link: invitationLink(baseUrl, issued.secret),
          ...(issued.mailed ? { mailed: true } : {})
        }
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(InvitationId, params.invitationId, "Invitation")
        return { invitation: yield* invitations.revoke(yield* commandContext, yield* invitationScope, id) }
      }),
      inspect: Effect.fnUntraced(function* ({ payload }) {
        yield* counted
        return { invitation: yield* invitations.inspect(Redacted.make(payload.secret)) }
      }),
      accept: Effect.fnUntraced(function* ({ payload }) {
        const { subject } = yield* Caller
        yield* limits.consume("invitation", { subject })
        const secret = Redacted.make(payload.secret)
        return { invitation: yield* acceptance.accept(yield* commandContext, subject, secret) }
      }),
      decline: Effect.fnUntraced(function* ({ payload }) {
        yield* counted
        return { invitation: yield* invitations.decline(yield* commandContext, Redacted.make(payload.secret)) }
      })
    })
  })
)
