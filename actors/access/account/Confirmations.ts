import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server"
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { transaction } from "../../base/database/Transaction.ts"
import type { RelyingParty } from "./NewPasskeys.ts"
import type { PasskeyAssertion } from "./PasskeyResponse.ts"
import { Passkeys } from "./Passkeys.ts"
import { PasswordSignIn } from "./PasswordSignIn.ts"
import { SecondFactors } from "./SecondFactors.ts"
import { Sessions } from "./Sessions.ts"
import { UpstreamIdentities, type UpstreamIdentity } from "./UpstreamIdentities.ts"
import { refusedFor, type UpstreamRefused } from "./UpstreamRefusal.ts"
import { availableSignInMethods, type OfferedSignInMethods } from "./SignInMethods.ts"

/** The session in which a person confirms their identity. */
export interface ConfirmedSession {
  readonly subject: string
  readonly sessionId: string
  readonly requestId?: string | undefined
}

/** The methods that a person can use to confirm their identity. */
export interface ConfirmationWays {
  readonly password: boolean
  /** True if the password also requires the code of a second factor. */
  readonly code: boolean
  readonly passkeys: boolean
  readonly upstream: boolean
}

/**
 * Lets signed-in people confirm their identity. A sensitive action requires a confirmation within the last five minutes, in the
 * same session. Signing in counts as a confirmation, except through the upstream provider, which may keep people signed in for
 * days.
 */
export class Confirmations extends Context.Service<
  Confirmations,
  {
    /** Returns the methods that the person has set up and the installation currently offers. */
    readonly ways: (subject: string, offered: OfferedSignInMethods) => Effect.Effect<ConfirmationWays>
    /**
     * Fails with `permission_denied` if the password is wrong. If the code is missing or wrong, fails as
     * `SecondFactors.require` does.
     */
    readonly byPassword: (
      session: ConfirmedSession,
      password: Redacted.Redacted,
      code: Redacted.Redacted | undefined
    ) => Effect.Effect<void, ApiError>
    readonly passkeyOptions: (
      party: RelyingParty,
      session: ConfirmedSession
    ) => Effect.Effect<PublicKeyCredentialRequestOptionsJSON>
    /** Fails with `permission_denied` if the response is invalid or comes from somebody else's passkey. */
    readonly byPasskey: (
      session: ConfirmedSession,
      party: RelyingParty,
      answer: PasskeyAssertion
    ) => Effect.Effect<void, ApiError>
    /**
     * Call it after verifying that the owner of this identity has just signed in at the provider. Fails with `not_yours` if the
     * identity does not belong to an active person, and with `unauthenticated` if the session belongs to somebody else.
     */
    readonly byUpstream: (
      sessionId: string,
      identity: UpstreamIdentity,
      requestId: string | undefined
    ) => Effect.Effect<void, ApiError | UpstreamRefused>
  }
>()("svc/actors/access/account/Confirmations") {
  static readonly layer = Layer.effect(
    Confirmations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* Sessions
      const passwords = yield* PasswordSignIn
      const passkeys = yield* Passkeys
      const factors = yield* SecondFactors
      const identities = yield* UpstreamIdentities

      return Confirmations.of({
        ways: Effect.fn("Confirmations.ways")(
          function* (subject, offered) {
            const kinds = new Set((yield* availableSignInMethods(subject, offered)).map(({ kind }) => kind))
            return {
              password: kinds.has("password"),
              code: (yield* factors.read(subject)).active,
              passkeys: kinds.has("passkey"),
              upstream: kinds.has("upstream")
            }
          },
          Effect.orDie,
          Effect.provideService(SqlClient.SqlClient, sql)
        ),
        byPassword: Effect.fn("Confirmations.byPassword")(function* (
          { requestId, sessionId, subject },
          password,
          code
        ) {
          const isFactorProven = yield* passwords.prove(subject, password, code)
          yield* Effect.gen(function* () {
            // Check again, because the factor may have been activated in the meantime.
            if (!isFactorProven) yield* factors.require(subject, undefined)
            yield* sessions.confirm(subject, sessionId, "password", requestId)
          }).pipe(transaction(sql))
        }),
        passkeyOptions: passkeys.proofOptions,
        byPasskey: Effect.fn("Confirmations.byPasskey")(function* (session, party, answer) {
          yield* passkeys.prove(party, session, answer)
          yield* sessions.confirm(session.subject, session.sessionId, "passkey", session.requestId)
        }),
        byUpstream: Effect.fn("Confirmations.byUpstream")(function* (sessionId, identity, requestId) {
          const owner = yield* identities.ownerOf(identity)
          if (Option.isNone(owner)) return yield* refusedFor("not_yours")
          yield* sessions.confirm(owner.value, sessionId, "upstream", requestId)
        })
      })
    })
  )
}
