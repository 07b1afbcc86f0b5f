import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AccountSession } from "../../../actors/access/account/Sessions.ts"
import { created } from "../../../schema/api/AnswerStatus.ts"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { SetupLinkState } from "../../../schema/records/AccountLink.ts"
import { confirmedPerson, everyone, person } from "../../http-kit/RouteAccess.ts"
import { redemptionFields, SecretText } from "../AuthBody.ts"

export const SetupRequest = Schema.Struct({ ...redemptionFields, password: SecretText })
export const LinkRequest = Schema.Struct({ secret: SecretText })
export const SignInRequest = Schema.Struct({
  email: Schema.String,
  password: SecretText,
  code: Schema.optionalKey(SecretText)
})
export const PasswordRequest = Schema.Struct({ newPassword: SecretText })

export const SignedInAnswer = Schema.Struct({ subject: Schema.String, session: AccountSession })
export const SessionAnswer = Schema.Struct({
  session: Schema.Struct({ id: Schema.String }),
  user: Schema.Struct({
    subject: Schema.String,
    email: Schema.String,
    displayName: Schema.optionalKey(Schema.String),
    isOperator: Schema.Boolean
  })
})
export const SessionList = Schema.Struct({
  sessions: Schema.Array(Schema.Struct({ ...AccountSession.fields, current: Schema.Boolean }))
})
export const SignInOffer = Schema.Struct({
  password: Schema.Boolean,
  passkeys: Schema.Boolean,
  provider: Schema.optionalKey(Schema.Struct({ name: Schema.String }))
})
export const SetupLinkAnswer = Schema.Struct({ link: SetupLinkState })

const cookie = "The session's secret is in the cookie alone."

/** Setup, sign-in, sign-out and a person's sessions. */
export class SignInApi extends describedGroup("signIn", "Setup, sign-in, sign-out and the sessions of a person.")
  .add(
    HttpApiEndpoint.get("offer", "/auth/offer", { success: SignInOffer }).annotateMerge(
      describedRoute(
        everyone,
        "Ways to sign in",
        "Whether passwords and passkeys are accepted, and the provider's name."
      )
    ),
    HttpApiEndpoint.post("setup", "/auth/setup", {
      payload: SetupRequest,
      success: SignedInAnswer.pipe(created)
    }).annotateMerge(
      describedRoute(
        everyone,
        "Redeem a setup link with a password",
        `Creates the first account, or gives an account a new password. Signs in. ${cookie}`
      )
    ),
    HttpApiEndpoint.post("setupLink", "/auth/setup/link", {
      payload: LinkRequest,
      success: SetupLinkAnswer
    }).annotateMerge(
      describedRoute(
        everyone,
        "Inspect a setup link",
        "Its purpose, and whether it still works. Does not use up the link."
      )
    ),
    HttpApiEndpoint.post("signIn", "/auth/sign-in", {
      payload: SignInRequest,
      success: SignedInAnswer
    }).annotateMerge(
      describedRoute(
        everyone,
        "Sign in with a password",
        `401 \`second_factor_required\` asks for the same request with \`code\`. ${cookie}`
      )
    ),
    HttpApiEndpoint.post("signOut", "/auth/sign-out", { success: HttpApiSchema.NoContent }).annotateMerge(
      describedRoute(everyone, "Sign out", "Ends the presented session, if there is one, and removes the cookie.")
    ),
    HttpApiEndpoint.post("signOutEverywhere", "/auth/sign-out-everywhere", {
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "End every session of the account", "Tokens stay as they are.")),
    HttpApiEndpoint.post("password", "/auth/password", {
      payload: PasswordRequest,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      describedRoute(confirmedPerson, "Change the password", "Ends the other sessions and replaces this one.")
    ),
    HttpApiEndpoint.get("session", "/auth/session", { success: SessionAnswer }).annotateMerge(
      describedRoute(person, "Read the signed-in account", "The session and the account behind the cookie.")
    ),
    HttpApiEndpoint.get("sessions", "/auth/sessions", { success: SessionList }).annotateMerge(
      describedRoute(person, "List open sessions", "`current` marks the session of this request.")
    ),
    HttpApiEndpoint.post("revokeSession", "/auth/sessions/:sessionId/revoke", {
      params: { sessionId: Schema.String },
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "End a session", "Its cookie is worth nothing from then on."))
  )
  .middleware(Envelope) {}
