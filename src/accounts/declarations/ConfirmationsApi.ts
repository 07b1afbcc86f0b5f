import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { WaitingConfirmation } from "../../../schema/records/ActionConfirmation.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { person } from "../../http-kit/RouteAccess.ts"
import { SecretText } from "../AuthBody.ts"
import { AssertionRequest, PasskeyOptions } from "./PasskeyCeremony.ts"

export const ConfirmationRequest = Schema.Struct({ password: SecretText, code: Schema.optionalKey(SecretText) })
export const Confirmation = Schema.Struct({
  confirmed: Schema.Boolean,
  password: Schema.Boolean,
  code: Schema.Boolean,
  passkeys: Schema.Boolean,
  provider: Schema.optionalKey(Schema.Struct({ name: Schema.String }))
})

export const WaitingConfirmationRequest = Schema.Struct({ userCode: Schema.String.check(Schema.isMaxLength(32)) })
export const WaitingConfirmationAnswer = Schema.Struct({ confirmation: WaitingConfirmation })
export const ConfirmationDecision = Schema.Struct({
  userCode: Schema.String.check(Schema.isMaxLength(32)),
  decision: Schema.Literals(["approve", "deny"])
})

/** Endpoints by which a person confirms their identity before sensitive actions. */
export class ConfirmationsApi extends describedGroup("confirmations", "Showing again who one is.")
  .add(
    HttpApiEndpoint.get("read", "/auth/confirmation", { success: Confirmation }).annotateMerge(
      describedRoute(
        person,
        "Whether the person is confirmed",
        "And the ways in which they can be. At the sign-in provider it begins at `/auth/upstream/start?confirm=true`."
      )
    ),
    HttpApiEndpoint.post("byPassword", "/auth/confirmation/password", {
      payload: ConfirmationRequest,
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "Confirm with the password", "Holds for five minutes, for this session.")),
    HttpApiEndpoint.post("passkeyOptions", "/auth/confirmation/passkey-options", {
      success: PasskeyOptions
    }).annotateMerge(describedRoute(person, "Begin a confirmation with a passkey", "Options for the browser.")),
    HttpApiEndpoint.post("byPasskey", "/auth/confirmation/passkey", {
      payload: AssertionRequest,
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "Confirm with a passkey", "Holds for five minutes, for this session.")),
    HttpApiEndpoint.post("waiting", "/auth/confirmation/waiting", {
      payload: WaitingConfirmationRequest,
      success: WaitingConfirmationAnswer
    }).annotateMerge(
      describedRoute(
        person,
        "The action that a program asks this person to confirm",
        "By the code that the program shows (`POST /api/v1/confirmations`). 404 for the codes of other people, and for codes that were decided or ended."
      )
    ),
    HttpApiEndpoint.post("decide", "/auth/confirmation/decide", {
      payload: ConfirmationDecision,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      describedRoute(
        person,
        "Approve or deny the action of a program",
        "An approval needs a session whose person was confirmed within the last five minutes (403 `reauthentication_required`); it is valid for one request of the program, and ends ten minutes after the program requested it."
      )
    )
  )
  .middleware(Envelope) {}
