import { Effect, Redacted, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ActionConfirmations } from "../../../actors/access/account/ActionConfirmations.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { NewActionConfirmation } from "../../../schema/records/ActionConfirmation.ts"
import { AttemptLimits } from "../../accounts/AttemptLimits.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { answer, authorisedWorkspace } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const begun = answer(
  SvcApi.groups.actionConfirmations.endpoints.begin,
  Schema.Struct({ confirmation: NewActionConfirmation }),
  201
)

/** Path of the dashboard page on which a person approves or denies an action. */
export const confirmationPage = "/confirm"

export const actionConfirmationHandlers = HttpApiBuilder.group(
  SvcApi,
  "actionConfirmations",
  Effect.fn(function* (handlers) {
    const confirmations = yield* ActionConfirmations
    const limits = yield* AttemptLimits
    const { baseUrl } = yield* HttpSettings
    return storedAnswers("actionConfirmations", handlers).handleAll({
      begin: Effect.fnUntraced(function* ({ payload: { action, targetId } }) {
        const caller = yield* Caller
        yield* limits.consume("confirmation", { subject: `begin:${caller.subject}` })
        const workspaceId = yield* authorisedWorkspace
        const { code, ...shown } = yield* confirmations.begin(caller, { action, targetId, workspaceId })
        const verificationUri = new URL(confirmationPage, baseUrl).href
        return yield* begun(
          {
            confirmation: {
              ...shown,
              code: Redacted.value(code),
              verificationUri,
              verificationUriComplete: `${verificationUri}?code=${shown.userCode}`
            }
          },
          201
        )
      }),
      poll: Effect.fnUntraced(function* ({ payload }) {
        return { confirmation: yield* confirmations.poll(yield* Caller, Redacted.make(payload.code)) }
      })
    })
  })
)
