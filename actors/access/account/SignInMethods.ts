import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { rowShape, type RowOf } from "../../base/database/Table.ts"

/** The sign-in methods that the installation currently offers. */
export interface OfferedSignInMethods {
  readonly password: boolean
  readonly passkeys: boolean
  /** The issuer of the upstream provider. svc rejects identities of other issuers. */
  readonly upstreamIssuer: string | undefined
}

/** Removes a trailing slash, because operators may write the issuer either way. */
const bare = (issuer: string) => issuer.replace(/\/$/, "")

/** A sign-in method of an account. `issuer` is set for an upstream identity. */
const SignInMethod = rowShape({ kind: Schema.Literals(["password", "passkey", "upstream"]), issuer: Schema.String })
export type SignInMethod = RowOf<typeof SignInMethod.columns>

/** Returns true if the installation currently offers this sign-in method. */
export const isOffered = ({ issuer, kind }: SignInMethod, offered: OfferedSignInMethods): boolean => {
  switch (kind) {
    case "password":
      return offered.password
    case "passkey":
      return offered.passkeys
    case "upstream":
      return offered.upstreamIssuer !== undefined && bare(offered.upstreamIssuer) === bare(issuer)
  }
}

/** Returns the account's sign-in methods that the installation currently offers. */
export const availableSignInMethods = Effect.fn("availableSignInMethods")(function* (
  subject: string,
  offered: OfferedSignInMethods
) {
  const sql = yield* SqlClient.SqlClient
  const methods = yield* SignInMethod.rows(sql)`
    SELECT 'password' AS kind, '' AS issuer FROM user_passwords WHERE subject = ${subject}
    UNION ALL SELECT 'passkey', '' FROM passkeys WHERE subject = ${subject}
    UNION ALL SELECT 'upstream', issuer FROM upstream_identities WHERE subject = ${subject}`
  return methods.filter((method) => isOffered(method, offered))
})

/**
 * Fails with `failed_precondition` if the account has no sign-in method left. Call it in the transaction of a change, after the
 * change.
 */
export const requireSignInMethod = Effect.fn("requireSignInMethod")(function* (
  subject: string,
  offered: OfferedSignInMethods
) {
  if ((yield* availableSignInMethods(subject, offered)).length === 0) {
    return yield* failedPrecondition(
      "This is the last way to sign in to the account. Add another one first, e.g. a passkey, and remove this one then."
    )
  }
})
