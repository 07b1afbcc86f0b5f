import { Context, Effect, Layer, Redacted } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { bearerPrefixes } from "../credential/BearerSecret.ts"
import { invalidToken } from "../credential/CredentialRefusal.ts"
import type { Principal } from "../credential/Principal.ts"
import { Sessions } from "./Sessions.ts"
import { TokenAuthority } from "./TokenAuthority.ts"

/** Resolves the credential of a request to the person behind it. */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** Fails with `invalid_token` unless it is a valid bearer token; a session's secret is not. */
    readonly authenticateBearer: (token: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
    /** Fails with `unauthenticated` unless it is an open session. */
    readonly authenticateSession: (secret: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
  }
>()("svc/account/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const tokens = yield* TokenAuthority
      const sessions = yield* Sessions
      return Accounts.of({
        authenticateBearer: (token) =>
          Redacted.value(token).startsWith(bearerPrefixes.personalToken)
            ? tokens.authenticate(token)
            : Effect.fail(invalidToken()),
        authenticateSession: sessions.authenticate
      })
    })
  )
}
