import { HttpApiEndpoint } from "effect/http-api"
import { created } from "../../../schema/api/AnswerStatus.ts"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { everyone } from "../../http-kit/RouteAccess.ts"
import { PasskeyOptions } from "./PasskeyCeremony.ts"
import { PasskeySetupRequest, SetupOptionsRequest } from "./PasskeysApi.ts"
import { SetupRequest, SignedInAnswer } from "./SignInApi.ts"

/** Creates an account from an invitation and accepts the invitation. */
export class InvitedSignUpApi extends describedGroup("invitedSignUp", "An account by an invitation.")
  .add(
    HttpApiEndpoint.post("withPassword", "/auth/invitations/sign-up", {
      payload: SetupRequest,
      success: SignedInAnswer.pipe(created)
    }).annotateMerge(
      describedRoute(
        everyone,
        "Sign up by invitation, with a password",
        "`secret` is that of the invitation. Creates the account, accepts the invitation and signs in."
      )
    ),
    HttpApiEndpoint.post("passkeyOptions", "/auth/invitations/passkey-options", {
      payload: SetupOptionsRequest,
      success: PasskeyOptions
    }).annotateMerge(
      describedRoute(everyone, "Begin to sign up by invitation, with a passkey", "Options for the browser.")
    ),
    HttpApiEndpoint.post("withPasskey", "/auth/invitations/passkey", {
      payload: PasskeySetupRequest,
      success: SignedInAnswer.pipe(created)
    }).annotateMerge(
      describedRoute(
        everyone,
        "Sign up by invitation, with a passkey",
        "Creates the account, accepts the invitation and signs in."
      )
    )
  )
  .middleware(Envelope) {}
