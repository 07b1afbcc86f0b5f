import { hash } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { base32, newId, now } from "../../base/Identity.ts"
import { RecoveryCodeRow } from "./FactorRows.ts"

const howMany = 10
// 80 random bits cannot be guessed, so the digest needs no salt.
const codeBytes = 10

/** Accepts the code as the person wrote it down, however grouped. */
const normal = (code: string): string => code.toLowerCase().replaceAll(/[^a-z2-7]/g, "")

const digest = (code: string): string => hash("sha256", `recovery\u0000${normal(code)}`, "hex")

/** New codes for the person, shown only once; the previous ones are revoked. Runs in the caller's transaction. */
export const issueRecoveryCodes = Effect.fn("issueRecoveryCodes")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const at = yield* now
  yield* sql`DELETE FROM recovery_codes WHERE subject = ${subject}`
  return yield* Effect.replicateEffect(
    Effect.gen(function* () {
      const code = base32(yield* random.randomBytes(codeBytes)).replaceAll(/(.{4})(?=.)/g, "$1-")
      yield* sql`INSERT INTO recovery_codes ${RecoveryCodeRow.values(sql, {
        id: yield* newId(Schema.String, "rcv"),
        subject,
        code_hash: digest(code),
        created_at: at,
        used_at: null
      })}`
      return Redacted.make(code)
    }),
    howMany
  )
}, Effect.orDie)

/** Consumes the code; false if it is not one of the person's unused codes. */
export const spendRecoveryCode = Effect.fn("spendRecoveryCode")(function* (subject: string, code: string) {
  const sql = yield* SqlClient.SqlClient
  const spent = yield* sql`UPDATE recovery_codes SET ${RecoveryCodeRow.changes(sql, { used_at: yield* now })}
    WHERE subject = ${subject} AND code_hash = ${digest(code)} AND used_at IS NULL RETURNING id`
  return spent.length > 0
}, Effect.orDie)

/** Number of the person's unused codes. */
export const recoveryCodesLeft = Effect.fn("recoveryCodesLeft")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const left = yield* sql`SELECT id FROM recovery_codes WHERE subject = ${subject} AND used_at IS NULL`
  return left.length
}, Effect.orDie)
