import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
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
    }).annotateMerge(describedRoute(person, "Confirm with a passkey", "Holds for five minutes, for this session."))
  )
  .middleware(Envelope) {}
