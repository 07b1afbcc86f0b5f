import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { newId, now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import type { PasskeyRegistration } from "./PasskeyResponse.ts"
import { PasskeyRow, TransportsJson } from "./PasskeyRow.ts"

/**
 * Loads the WebAuthn library when a passkey is first used, because the library is almost a megabyte in size. svc never
 * requests attestation, so the library needs no root certificates; if it had some, it would fetch revocation lists from URLs
 * in a response.
 */
export const webauthn = Effect.promise(async () => {
  const library = await import("@simplewebauthn/server")
  for (const identifier of ["android-key", "android-safetynet", "apple"] as const) {
    library.SettingsService.setRootCertificates({ identifier, certificates: [] })
  }
  return library
})

/** Length in base64url of 1,023 bytes, which is the maximum in WebAuthn Level 3, 7.1 step 25. */
const longestCredentialId = 1364

/** The site for which passkeys are registered. */
export interface RelyingParty {
  /** Host name of the public origin. Passkeys do not work with IP addresses. */
  readonly id: string
  readonly origin: string
  readonly name: string
}

export const Passkey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  backedUp: Schema.Boolean,
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp)
})
export type Passkey = typeof Passkey.Type

/** The person's name, as shown in the browser's passkey dialog. */
export interface PasskeyHolder {
  readonly subject: string
  readonly email: string
  readonly displayName: string | undefined
  /** The person's existing passkeys, so that a device that has one of these passkeys does not create another. */
  readonly known: ReadonlyArray<{ readonly credentialId: string; readonly transports: Array<string> }>
}

/** A verified passkey whose key is sealed, ready to be stored. */
export interface VerifiedPasskey {
  readonly passkey: Passkey
  readonly credentialId: string
  readonly sealedKey: string
  readonly counter: number
  readonly transports: ReadonlyArray<string>
  readonly deviceType: string
}

export const passkeySeal = (id: string) => ({ table: "passkeys", column: "public_key", workspaceId: null, rowId: id })

export const refusedRegistration = () =>
  invalidRequest("The passkey's answer does not hold. Ask for new options and try again.")

/**
 * Returns the options for the browser. The passkey must be resident, so that it identifies the person, and user verification
 * is required.
 */
export const creationOptions = (
  party: RelyingParty,
  holder: PasskeyHolder,
  challenge: Uint8Array<ArrayBuffer>
): Effect.Effect<PublicKeyCredentialCreationOptionsJSON> =>
  Effect.flatMap(webauthn, ({ generateRegistrationOptions }) =>
    Effect.promise(() =>
      generateRegistrationOptions({
        rpName: party.name,
        rpID: party.id,
        userID: new TextEncoder().encode(holder.subject),
        userName: holder.email,
        userDisplayName: holder.displayName ?? holder.email,
        challenge,
        excludeCredentials: holder.known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" }
      })
    )
  )

/** The only writer of new passkeys. The caller must ensure that the challenge was issued to the future owner of the passkey. */
export class NewPasskeys extends Context.Service<
  NewPasskeys,
  {
    /** Verifies a passkey without writing anything. Fails with `invalid_request` if the response is invalid. */
    readonly verify: (
      party: RelyingParty,
      name: string,
      challenge: string,
      answer: PasskeyRegistration
    ) => Effect.Effect<VerifiedPasskey, ApiError>
    /** Inserts a passkey in the caller's transaction. Fails with `failed_precondition` if it already exists. */
    readonly insert: (
      context: CommandContext,
      subject: string,
      verified: VerifiedPasskey
    ) => Effect.Effect<Passkey, ApiError>
  }
>()("svc/actors/access/account/NewPasskeys") {
  static readonly layer = Layer.effect(
    NewPasskeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const vault = yield* Vault
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const verify = Effect.fn("NewPasskeys.verify")(function* (
        party: RelyingParty,
        name: string,
        challenge: string,
        answer: PasskeyRegistration
      ) {
        const { verifyRegistrationResponse } = yield* webauthn
        const verified = yield* Effect.tryPromise({
          try: () =>
            verifyRegistrationResponse({
              response: { ...answer, clientExtensionResults: {} },
              expectedChallenge: challenge,
              expectedOrigin: party.origin,
              expectedRPID: party.id,
              requireUserVerification: true
            }),
          catch: refusedRegistration
        })
        if (!verified.verified) return yield* refusedRegistration()
        const { credential, credentialBackedUp, credentialDeviceType } = verified.registrationInfo
        if (credential.id.length > longestCredentialId) return yield* refusedRegistration()
        const id = yield* newId(Schema.String, "pky").pipe(withRandom)
        return {
          passkey: { id, name, backedUp: credentialBackedUp, createdAt: yield* now, lastUsedAt: null },
          credentialId: credential.id,
          sealedKey: yield* vault.seal(passkeySeal(id), Redacted.make<Uint8Array>(credential.publicKey)),
          counter: credential.counter,
          transports: answer.response.transports ?? [],
          deviceType: credentialDeviceType
        } satisfies VerifiedPasskey
      })

      const insert = Effect.fn("NewPasskeys.insert")(function* (
        context: CommandContext,
        subject: string,
        { counter, credentialId, deviceType, passkey, sealedKey, transports }: VerifiedPasskey
      ) {
        const inserted = yield* sql`INSERT INTO passkeys ${PasskeyRow.values(sql, {
          id: passkey.id,
          subject,
          credential_id: credentialId,
          public_key: sealedKey,
          counter,
          transports: TransportsJson.write(transports),
          device_type: deviceType,
          backed_up: passkey.backedUp ? 1 : 0,
          name: passkey.name,
          created_at: passkey.createdAt,
          last_used_at: null
        })} ON CONFLICT (credential_id) DO NOTHING RETURNING id`.pipe(Effect.orDie)
        if (inserted.length === 0) return yield* failedPrecondition("This passkey is registered already.")
        yield* audit.append({
          workspaceId: null,
          actor: context.actor,
          action: "passkey.create",
          target: { kind: "passkey", id: passkey.id },
          requestId: context.requestId
        })
        return passkey
      })

      return NewPasskeys.of({ verify, insert })
    })
  )
}
