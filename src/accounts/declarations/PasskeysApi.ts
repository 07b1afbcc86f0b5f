import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Passkey } from "../../../actors/access/account/NewPasskeys.ts"
import { created } from "../../../schema/api/AnswerStatus.ts"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { confirmedPerson, everyone, person } from "../../http-kit/RouteAccess.ts"
import { redemptionFields } from "../AuthBody.ts"
import { AssertionRequest, PasskeyOptions, RegistrationRequest } from "./PasskeyCeremony.ts"
import { SignedInAnswer } from "./SignInApi.ts"

export const PasskeyAnswer = Schema.Struct({ passkey: Passkey })
export const PasskeyList = Schema.Struct({ passkeys: Schema.Array(Passkey) })
export const SetupOptionsRequest = Schema.Struct(redemptionFields)
export const PasskeySetupRequest = Schema.Struct({ ...redemptionFields, ...RegistrationRequest.fields })

const options = "Options for the browser. The challenge works once, for a few minutes."

/** Manages a person's passkeys, and uses them for sign-in and account setup. */
export class PasskeysApi extends describedGroup("passkeys", "Passkeys, and signing in with one.")
  .add(
    HttpApiEndpoint.get("list", "/auth/passkeys", { success: PasskeyList }).annotateMerge(
      describedRoute(person, "List passkeys", "Names and times; nothing of the keys.")
    ),
    HttpApiEndpoint.post("register", "/auth/passkeys", {
      payload: RegistrationRequest,
      success: PasskeyAnswer.pipe(created)
    }).annotateMerge(
      describedRoute(confirmedPerson, "Add a passkey", "`response` is what the browser gave, unchanged.")
    ),
    HttpApiEndpoint.delete("remove", "/auth/passkeys/:passkeyId", {
      params: { passkeyId: Schema.String },
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      describedRoute(confirmedPerson, "Remove a passkey", "The last way to sign in cannot be removed (409).")
    ),
    HttpApiEndpoint.post("registrationOptions", "/auth/passkeys/registration-options", {
      success: PasskeyOptions
    }).annotateMerge(describedRoute(confirmedPerson, "Begin to add a passkey", options)),
    HttpApiEndpoint.post("signInOptions", "/auth/passkeys/sign-in-options", { success: PasskeyOptions }).annotateMerge(
      describedRoute(everyone, "Begin to sign in with a passkey", options)
    ),
    HttpApiEndpoint.post("signIn", "/auth/passkeys/sign-in", {
      payload: AssertionRequest,
      success: SignedInAnswer
    }).annotateMerge(
      describedRoute(everyone, "Sign in with a passkey", "The session's secret is in the cookie alone.")
    ),
    HttpApiEndpoint.post("setupOptions", "/auth/setup/passkey-options", {
      payload: SetupOptionsRequest,
      success: PasskeyOptions
    }).annotateMerge(describedRoute(everyone, "Begin to redeem a setup link with a passkey", options)),
    HttpApiEndpoint.post("setup", "/auth/setup/passkey", {
      payload: PasskeySetupRequest,
      success: SignedInAnswer.pipe(created)
    }).annotateMerge(
      describedRoute(everyone, "Redeem a setup link with a passkey", "Creates the first account, or recovers one.")
    )
  )
  .middleware(Envelope) {}
