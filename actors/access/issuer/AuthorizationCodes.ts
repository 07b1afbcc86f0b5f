import { Context, DateTime, Effect, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { secretHash } from "../../base/credential/BearerSecret.ts"
import { now } from "../../base/Identity.ts"
import { mintOneTimeSecret } from "./IdentitySecrets.ts"
import { lifetimes } from "./Lifetimes.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { CodeRow, GrantRow } from "./GrantRow.ts"
import { createHash, timingSafeEqual } from "node:crypto"

const challengePattern = /^[A-Za-z0-9_-]{43}$/
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/** Returns true if the text can be an S256 challenge: a SHA-256 in base64url. */
export const isChallenge = (text: string): boolean => challengePattern.test(text)

/** Returns true if the challenge was derived from this verifier. */
export const verifierMatches = (verifier: string, challenge: string): boolean => {
  if (!verifierPattern.test(verifier)) return false
  const made = createHash("sha256").update(verifier).digest("base64url")
  return made.length === challenge.length && timingSafeEqual(Buffer.from(made), Buffer.from(challenge))
}

export interface NewCode {
  readonly grantId: string
  readonly redirectUri: string
  readonly codeChallenge: string | undefined
  readonly nonce: string | undefined
}

export interface PresentedCode {
  readonly clientId: string
  readonly code: Redacted.Redacted
  readonly redirectUri: string | undefined
  readonly verifier: string | undefined
}

const { code_challenge, expires_at, grant_id, nonce, redirect_uri, used_at } = CodeRow.columns

/** A code and its client. */
const IssuedCode = rowShape({
  grant_id,
  client_id: GrantRow.columns.client_id,
  redirect_uri,
  code_challenge,
  nonce,
  expires_at,
  used_at
})
type IssuedCode = RowOf<typeof IssuedCode.columns>

/** The result of redeeming a code. `reused` means that the code was used before, so somebody else may have it. */
export type CodeRedemption =
  | { readonly kind: "redeemed"; readonly grantId: string; readonly nonce: string | undefined }
  | { readonly kind: "reused"; readonly grantId: string }
  | { readonly kind: "refused"; readonly why: string }

const refused = (why: string): CodeRedemption => ({ kind: "refused", why })

const proofFault = (row: IssuedCode, verifier: string | undefined): string | undefined => {
  if (row.code_challenge === null) {
    // A verifier for a code that was requested without a challenge indicates a downgrade attack (RFC 9700).
    return verifier === undefined ? undefined : "The code was requested without PKCE, but a code_verifier was sent."
  }
  if (verifier === undefined) return "The code_verifier is missing."
  return verifierMatches(verifier, row.code_challenge) ? undefined : "The code_verifier is not the one of the request."
}

/**
 * Authorization codes. A code is valid for one minute, and for one use by one client with one redirect URI. Every method
 * works in the caller's transaction.
 */
export class AuthorizationCodes extends Context.Service<
  AuthorizationCodes,
  {
    readonly issue: (code: NewCode) => Effect.Effect<Redacted.Redacted, SqlError>
    /** Uses up the code if all presented values match; otherwise changes nothing. */
    readonly redeem: (presented: PresentedCode) => Effect.Effect<CodeRedemption, SqlError>
  }
>()("svc/actors/access/issuer/AuthorizationCodes") {
  static readonly layer = Layer.effect(
    AuthorizationCodes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      return AuthorizationCodes.of({
        issue: Effect.fn("AuthorizationCodes.issue")(function* (code) {
          const secret = yield* mintOneTimeSecret("svcc_").pipe(withRandom)
          const at = yield* DateTime.now
          yield* sql`INSERT INTO oidc_codes ${CodeRow.values(sql, {
            secret_hash: secretHash(secret),
            grant_id: code.grantId,
            redirect_uri: code.redirectUri,
            code_challenge: code.codeChallenge ?? null,
            nonce: code.nonce ?? null,
            created_at: DateTime.formatIso(at),
            expires_at: DateTime.formatIso(DateTime.addDuration(at, lifetimes.authorizationCode)),
            used_at: null
          })}`
          return secret
        }),
        redeem: Effect.fn("AuthorizationCodes.redeem")(function* ({ clientId, code, redirectUri, verifier }) {
          const hash = secretHash(code)
          const at = yield* now
          const [row] = yield* IssuedCode.rows(
            sql
          )`SELECT c.grant_id, g.client_id, c.redirect_uri, c.code_challenge, c.nonce,
              c.expires_at, c.used_at
            FROM oidc_codes c JOIN oidc_grants g ON g.id = c.grant_id WHERE c.secret_hash = ${hash}`
          // Treat another client's code as unknown, so that no client can use or revoke another client's codes.
          if (row === undefined || row.client_id !== clientId) return refused("The code is unknown or expired.")
          if (row.used_at !== null) return { kind: "reused", grantId: row.grant_id }
          if (row.expires_at <= at) return refused("The code is unknown or expired.")
          if (row.redirect_uri !== redirectUri) return refused("The redirect_uri is not the one of the request.")
          const fault = proofFault(row, verifier)
          if (fault !== undefined) return refused(fault)
          yield* sql`UPDATE oidc_codes SET used_at = ${at} WHERE secret_hash = ${hash}`
          return { kind: "redeemed", grantId: row.grant_id, nonce: row.nonce ?? undefined }
        })
      })
    })
  )
}
