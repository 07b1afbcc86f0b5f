import { Context, Effect, Layer, type Redacted } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { invalidToken } from "../../base/credential/CredentialRefusal.ts"
import type { Principal } from "../../base/credential/Principal.ts"
import { TokenInspection } from "./TokenInspection.ts"

const unverifiable = new ApiError({
  code: "verification_unavailable",
  message: "The authority of the token could not be verified just now. Try again."
})

/** Authenticates API requests with OAuth access tokens. */
export class OAuthAuthority extends Context.Service<
  OAuthAuthority,
  {
    /** Fails with `invalid_token`, or with `verification_unavailable` if the database cannot be read. */
    readonly authenticate: (token: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
  }
>()("svc/actors/access/issuer/OAuthAuthority") {
  static readonly layer = Layer.effect(
    OAuthAuthority,
    Effect.gen(function* () {
      const inspection = yield* TokenInspection
      return OAuthAuthority.of({
        authenticate: Effect.fn("OAuthAuthority.authenticate")(function* (token) {
          const good = yield* inspection
            .accessToken(token)
            .pipe(Effect.mapError((error) => (error.status === 503 ? unverifiable : invalidToken())))
          return {
            credential: "oauth",
            credentialId: good.id,
            grantId: good.grant.id,
            subject: good.grant.subject,
            scopes: good.scopes,
            ...(good.grant.workspaceId === undefined ? {} : { boundWorkspaceId: good.grant.workspaceId })
          } as const
        })
      })
    })
  )
}
