import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON
} from "@simplewebauthn/server"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { AccountNotices } from "./AccountNotices.ts"
import {
  creationOptions,
  NewPasskeys,
  Passkey,
  passkeySeal,
  refusedRegistration,
  type RelyingParty,
  webauthn
} from "./NewPasskeys.ts"
import { claimedChallenge, issueChallenge, spendChallenge } from "./PasskeyChallenges.ts"
import { PasskeyRow } from "./PasskeyRow.ts"
import type { PasskeyAssertion, PasskeyRegistration } from "./PasskeyResponse.ts"
import { type OpenSession, Sessions } from "./Sessions.ts"
import { Users } from "./Users.ts"
import { type OfferedSignInMethods, requireSignInMethod } from "./SignInMethods.ts"
import { providedService } from "../../base/Provided.ts"

/** The session in which a person adds a passkey or confirms their identity. The challenge works only in this session. */
export interface PasskeySession {
  readonly subject: string
  readonly sessionId: string
}

export interface PasskeySignInOptions {
  readonly userAgent?: string | undefined
  /** The browser's previous session. Signing in revokes it. */
  readonly replaces?: Redacted.Redacted | undefined
  readonly requestId?: string | undefined
}

const Row = Schema.Struct({ ...Passkey.fields, backedUp: Schema.BooleanFromBit })

const Stored = Schema.Struct({
  id: Schema.String,
  subject: Subject,
  credentialId: Schema.String,
  publicKey: Schema.String,
  counter: Schema.Int,
  transports: Schema.fromJsonString(Schema.mutable(Schema.Array(Schema.String)))
})

const refused = () =>
  new ApiError({ code: "unauthenticated", message: "The passkey was not accepted. Try again, or sign in another way." })

/** Registers passkeys of signed-in people, and signs people in with passkeys. User verification is always required. */
export class Passkeys extends Context.Service<
  Passkeys,
  {
    readonly registrationOptions: (
      party: RelyingParty,
      session: PasskeySession
    ) => Effect.Effect<PublicKeyCredentialCreationOptionsJSON, ApiError>
    /** Fails with `invalid_request` if the response is invalid, and with `failed_precondition` if the passkey already exists. */
    readonly register: (
      context: CommandContext,
      party: RelyingParty,
      session: PasskeySession,
      name: string,
      answer: PasskeyRegistration
    ) => Effect.Effect<Passkey, ApiError>
    readonly signInOptions: (party: RelyingParty) => Effect.Effect<PublicKeyCredentialRequestOptionsJSON>
    /** Fails with `unauthenticated` for every invalid response, regardless of the reason. */
    readonly signIn: (
      party: RelyingParty,
      answer: PasskeyAssertion,
      options: PasskeySignInOptions
    ) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
    /** Returns the options for a response from one of the person's own passkeys. */
    readonly proofOptions: (
      party: RelyingParty,
      session: PasskeySession
    ) => Effect.Effect<PublicKeyCredentialRequestOptionsJSON>
    /** Fails with `unauthenticated` unless the response comes from one of the person's own passkeys. */
    readonly prove: (
      party: RelyingParty,
      session: PasskeySession,
      answer: PasskeyAssertion
    ) => Effect.Effect<void, ApiError>
    readonly list: (subject: string) => Effect.Effect<ReadonlyArray<Passkey>>
    /**
     * Fails with `not_found` for somebody else's passkey, and with `failed_precondition` for the person's last sign-in method.
     */
    readonly remove: (
      context: CommandContext,
      subject: string,
      id: string,
      offered: OfferedSignInMethods
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/account/Passkeys") {
  static readonly layer = Layer.effect(
    Passkeys,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* Audit
  const vault = yield* Vault
  const newPasskeys = yield* NewPasskeys
  const notices = yield* AccountNotices
  const users = yield* Users
  const sessions = yield* Sessions

  const columns = sql.literal(
    `id, name, backed_up AS "backedUp", created_at AS "createdAt", last_used_at AS "lastUsedAt"`
  )
  const findOwn = SqlSchema.findAll({
    Request: Schema.String,
    Result: Row,
    execute: (subject) => sql`SELECT ${columns} FROM passkeys WHERE subject = ${subject} ORDER BY created_at, id`
  })
  const findStored = SqlSchema.findAll({
    Request: Schema.Struct({ subject: Schema.NullOr(Schema.String), credentialId: Schema.NullOr(Schema.String) }),
    Result: Stored,
    execute: ({ credentialId, subject }) =>
      sql`SELECT p.id, p.subject, p.credential_id AS "credentialId", p.public_key AS "publicKey", p.counter, p.transports
        FROM passkeys p JOIN users u ON u.subject = p.subject AND u.status = 'active'
        WHERE p.credential_id = ${credentialId} OR p.subject = ${subject}`
  })

  const register = Effect.fn("Passkeys.register")(function* (
    context: CommandContext,
    party: RelyingParty,
    { sessionId, subject }: PasskeySession,
    name: string,
    answer: PasskeyRegistration
  ) {
    const challenge = claimedChallenge(answer.response.clientDataJSON)
    if (!(yield* spendChallenge(challenge, `registration:${sessionId}`, subject))) return yield* refusedRegistration()
    const verified = yield* newPasskeys.verify(party, name, challenge, answer)
    const added = Effect.tap(
      newPasskeys.insert(context, subject, verified),
      notices.write(subject, "passkey_added", name)
    )
    return yield* transaction(sql)(added)
  })

  /** `asked` is the session that requested the challenge. It is absent for a sign-in. */
  const verify = Effect.fnUntraced(function* (
    party: RelyingParty,
    answer: PasskeyAssertion,
    asked: PasskeySession | null
  ) {
    const challenge = claimedChallenge(answer.response.clientDataJSON)
    const purpose = asked === null ? "sign_in" : (`confirmation:${asked.sessionId}` as const)
    if (!(yield* spendChallenge(challenge, purpose, asked?.subject ?? null))) return yield* refused()
    const [stored] = yield* Effect.orDie(findStored({ credentialId: answer.id, subject: null }))
    if (stored === undefined || (asked !== null && stored.subject !== asked.subject)) return yield* refused()
    const handle = answer.response.userHandle
    if (handle !== undefined && Buffer.from(handle, "base64url").toString() !== stored.subject) return yield* refused()
    const publicKey = yield* Effect.orDie(vault.open(passkeySeal(stored.id), stored.publicKey))
    const { verifyAuthenticationResponse } = yield* webauthn
    const verified = yield* Effect.tryPromise({
      try: () =>
        verifyAuthenticationResponse({
          response: { ...answer, clientExtensionResults: {} },
          expectedChallenge: challenge,
          expectedOrigin: party.origin,
          expectedRPID: party.id,
          requireUserVerification: true,
          credential: {
            id: stored.credentialId,
            publicKey: new Uint8Array(Redacted.value(publicKey)),
            counter: stored.counter,
            transports: stored.transports
          }
        }),
      catch: refused
    })
    return verified.verified ? { stored, info: verified.authenticationInfo } : yield* refused()
  })

  const noteUse = Effect.fnUntraced(function* ({ info, stored }: Effect.Success<ReturnType<typeof verify>>) {
    // Compares the counter again in the write, so that only one of two racing responses can succeed, which exposes a copied
    // authenticator. Also checks the account again, because the account may have been locked during the verification.
    const used = yield* sql`UPDATE passkeys
      SET counter = ${info.newCounter}, backed_up = ${info.credentialBackedUp ? 1 : 0}, last_used_at = ${yield* now}
      WHERE id = ${stored.id} AND counter = ${stored.counter}
        AND subject IN (SELECT subject FROM users WHERE status = 'active') RETURNING id`
    if (used.length === 0) return yield* refused()
  })

  const prove = Effect.fn("Passkeys.prove")(function* (
    party: RelyingParty,
    session: PasskeySession,
    answer: PasskeyAssertion
  ) {
    yield* transaction(sql)(noteUse(yield* verify(party, answer, session)))
  })

  const signIn = Effect.fn("Passkeys.signIn")(function* (
    party: RelyingParty,
    answer: PasskeyAssertion,
    options: PasskeySignInOptions
  ) {
    const verified = yield* verify(party, answer, null)
    const { stored } = verified
    return yield* Effect.gen(function* () {
      yield* noteUse(verified)
      const opened = yield* sessions.open({ subject: stored.subject, method: "passkey", ...options })
      return { ...opened, subject: stored.subject }
    }).pipe(transaction(sql))
  })

  return yield* providedService(Passkeys, {
    registrationOptions: Effect.fn("Passkeys.registrationOptions")(function* (party, { sessionId, subject }) {
      const user = yield* users.find(subject)
      if (Option.isNone(user)) return yield* notFound("Account")
      const known = yield* Effect.orDie(findStored({ credentialId: null, subject }))
      const challenge = yield* issueChallenge(`registration:${sessionId}`, subject)
      const { displayName, email } = user.value
      return yield* creationOptions(party, { subject, email, displayName: displayName ?? undefined, known }, challenge)
    }),
    register,
    signInOptions: Effect.fn("Passkeys.signInOptions")(function* (party) {
      const challenge = yield* issueChallenge("sign_in", null)
      const { generateAuthenticationOptions } = yield* webauthn
      return yield* Effect.promise(() =>
        generateAuthenticationOptions({ rpID: party.id, challenge, userVerification: "required" })
      )
    }),
    signIn,
    proofOptions: Effect.fn("Passkeys.proofOptions")(function* (party, { sessionId, subject }) {
      const challenge = yield* issueChallenge(`confirmation:${sessionId}`, subject)
      const own = yield* Effect.orDie(findStored({ credentialId: null, subject }))
      const { generateAuthenticationOptions } = yield* webauthn
      return yield* Effect.promise(() =>
        generateAuthenticationOptions({
          rpID: party.id,
          challenge,
          userVerification: "required",
          allowCredentials: own.map(({ credentialId, transports }) => ({ id: credentialId, transports }))
        })
      )
    }),
    prove,
    list: Effect.fn("Passkeys.list")((subject) => Effect.orDie(findOwn(subject))),
    remove: Effect.fn("Passkeys.remove")(function* (context, subject, id, offered) {
      const [removed] = yield* PasskeyRow.some(sql, "name")`DELETE FROM passkeys
          WHERE id = ${id} AND subject = ${subject} RETURNING name`
      if (removed === undefined) return yield* notFound("Passkey")
      yield* notices.write(subject, "passkey_removed", removed.name)
      yield* requireSignInMethod(subject, offered)
      yield* audit.append({
        workspaceId: null,
        actor: context.actor,
        action: "passkey.remove",
        target: { kind: "passkey", id },
        requestId: context.requestId
      })
    }, transaction(sql))
  })
})
