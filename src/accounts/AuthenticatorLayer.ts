import { Effect, Layer, Option, Redacted } from "effect"
import { Accounts } from "../../actors/access/account/Accounts.ts"
import { bearerPrefixes } from "../../actors/base/credential/BearerSecret.ts"
import { OAuthAuthority } from "../../actors/access/issuer/OAuthAuthority.ts"
import { whenTraced } from "../http-kit/WhenTraced.ts"
import { Authenticator } from "../http-kit/Authenticator.ts"
import { hostPrincipal } from "../http-kit/HostIdentity.ts"

/**
 * Authenticates HTTP requests with the credentials of this installation's accounts, and with its issuer's access tokens if
 * it has an issuer.
 */
export const authenticatorLayer = Layer.effect(
  Authenticator,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const issuer = Option.getOrUndefined(yield* Effect.serviceOption(OAuthAuthority))
    return Authenticator.of({
      bearer: (token) =>
        issuer !== undefined && Redacted.value(token).startsWith(bearerPrefixes.oauthAccess)
          ? issuer.authenticate(token)
          : whenTraced("TokenAuthority.authenticate", accounts.authenticateBearer(token)),
      session: (secret) => whenTraced("Sessions.authenticate", accounts.authenticateSession(secret)),
      host: (identity) => {
        const principal = hostPrincipal(identity)
        return identity.kind === "service"
          ? Effect.succeed(principal)
          : Effect.as(accounts.requireOpen(identity.subject), principal)
      }
    })
  })
)
