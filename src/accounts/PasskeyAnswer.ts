import { Effect, Schema } from "effect"
import { PasskeyAssertion, PasskeyRegistration } from "../../actors/access/account/PasskeyResponse.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"

/**
 * A browser's response to a ceremony. Unknown members are accepted, because browsers add members that the server does not need.
 */
export const BrowserAnswer = Schema.Json

const invalidAnswer = () =>
  new ApiError({ code: "invalid_request", message: "response: this is not a browser's response for a passkey." })

export const decodeRegistration = (response: Schema.Json) =>
  Effect.mapError(Schema.decodeUnknownEffect(PasskeyRegistration)(response), invalidAnswer)

export const decodeAssertion = (response: Schema.Json) =>
  Effect.mapError(Schema.decodeUnknownEffect(PasskeyAssertion)(response), invalidAnswer)
