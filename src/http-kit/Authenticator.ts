import { Context, type Effect, type Redacted } from "effect"
import type { Principal } from "../../actors/base/credential/Principal.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { HostIdentity } from "./HostIdentity.ts"

/**
 * Finds the principal of a presented secret. If the secret is unknown, expired or revoked, fails with `unauthenticated` (session)
 * or `invalid_token` (bearer).
 */
export class Authenticator extends Context.Service<
  Authenticator,
  {
    readonly bearer: (token: Redacted.Redacted<string>) => Effect.Effect<Principal, ApiError>
    readonly session: (secret: Redacted.Redacted<string>) => Effect.Effect<Principal, ApiError>
    /**
     * Returns the principal for an identity that the host vouches for. Fails with `unauthenticated` if the account is not
     * open.
     */
    readonly host: (identity: HostIdentity) => Effect.Effect<Principal, ApiError>
  }
>()("svc/src/http-kit/Authenticator") {}
