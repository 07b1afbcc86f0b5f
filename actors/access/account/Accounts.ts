import { Context, Effect, Layer, Redacted } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { bearerPrefixes } from "../../base/credential/BearerSecret.ts"
import { invalidToken } from "../../base/credential/CredentialRefusal.ts"
import type { Principal } from "../../base/credential/Principal.ts"
import { CommitCache } from "../../base/database/CommitCache.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { Sessions } from "./Sessions.ts"
import { TokenAuthority } from "./TokenAuthority.ts"
import { StoredUser } from "./UserRow.ts"

const accountNotOpen = new ApiError({
  code: "unauthenticated",
  message: "There is no such account, or it is disabled or deleted."
})

/** Resolves the credential of a request to a person. */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** Fails with `invalid_token` unless the token is a valid bearer token. Also rejects session secrets. */
    readonly authenticateBearer: (token: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
    /** Fails with `unauthenticated` unless the secret belongs to an open session. */
    readonly authenticateSession: (secret: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
    /** Fails with `unauthenticated` unless the account of this person or automation exists and is not locked. */
    readonly requireOpen: (subject: string) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/account/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const tokens = yield* TokenAuthority
      const sessions = yield* Sessions
      const read = yield* ReadSql
      const memory = yield* CommitCache
      const isOpen = memory.untilCommit((subject) =>
        Effect.map(
          StoredUser.some(read, "status")`SELECT status FROM users WHERE subject = ${subject}`,
          ([user]) => user?.status === "active"
        ).pipe(Effect.orDie)
      )
      return Accounts.of({
        authenticateBearer: (token) =>
          Redacted.value(token).startsWith(bearerPrefixes.personalToken)
            ? tokens.authenticate(token)
            : Effect.fail(invalidToken()),
        authenticateSession: sessions.authenticate,
        requireOpen: (subject) =>
          Effect.flatMap(isOpen(subject), (open) => (open ? Effect.void : Effect.fail(accountNotOpen)))
      })
    })
  )
}
