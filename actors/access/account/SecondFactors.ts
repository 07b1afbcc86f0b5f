import { Clock, Context, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { base32, newId, now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { AccountNotices } from "./AccountNotices.ts"
import type { NoticeKind } from "./ProfileRows.ts"
import { providedService } from "../../base/Provided.ts"
import { createHmac, hash, timingSafeEqual } from "node:crypto"
import { Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/**
 * Time-based one-time passwords (RFC 6238), as supported by every authenticator: SHA-1, six digits, a new code every 30 seconds.
 */
const stepMillis = 30_000
const digits = 6
// Number of time steps before and after the current time step whose codes are also accepted, because a phone's clock may be
// off by half a minute, and typing takes time.
const tolerance = 1

/** Computes the code for one time step (RFC 4226, 5.3). */
export const codeOf = (secret: Uint8Array, step: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac("sha1", secret).update(counter).digest()
  const offset = digest.readUInt8(digest.length - 1) & 0x0f
  const truncated = digest.readUInt32BE(offset) & 0x7fffffff
  return String(truncated % 10 ** digits).padStart(digits, "0")
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** Returns the time step of the code if it is currently accepted and later than `last`; otherwise `undefined`. */
export const stepOf = (secret: Uint8Array, code: string, millis: number, last: number | null): number | undefined => {
  const present = Math.floor(millis / stepMillis)
  for (let step = present - tolerance; step <= present + tolerance; step++) {
    if (step >= 0 && (last === null || step > last) && isSame(codeOf(secret, step), code)) return step
  }
  return undefined
}

/** Second factors with time-based codes. `secret` is sealed. A factor has no effect until it is activated. */
export const TotpRow = table("totp_factors", {
  subject: Subject,
  secret: Schema.String,
  created_at: Timestamp,
  activated_at: Schema.NullOr(Timestamp),
  last_step: Schema.NullOr(Schema.Int),
  failures: Schema.Int,
  failing_since: Schema.NullOr(Timestamp)
})
type TotpRow = RowOf<typeof TotpRow.columns>

/** Recovery codes. Each code can replace the second factor once. */
export const RecoveryCodeRow = table("recovery_codes", {
  id: Schema.String,
  subject: Subject,
  code_hash: Schema.String,
  created_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
type RecoveryCodeRow = RowOf<typeof RecoveryCodeRow.columns>

const howMany = 10
// 80 random bits cannot be guessed, so the digest needs no salt.
const codeBytes = 10

/** Normalises a code, because people write codes down and enter them in any grouping. */
const normal = (code: string): string => code.toLowerCase().replaceAll(/[^a-z2-7]/g, "")

const digest = (code: string): string => hash("sha256", `recovery\u0000${normal(code)}`, "hex")

/** Creates new recovery codes and revokes the previous ones, in the caller's transaction. The codes are shown only once. */
const issueRecoveryCodes = Effect.fn("issueRecoveryCodes")(function* (subject: string) {
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

/** Uses up a recovery code. Returns `false` if the code is not one of the person's unused codes. */
const spendRecoveryCode = Effect.fn("spendRecoveryCode")(function* (subject: string, code: string) {
  const sql = yield* SqlClient.SqlClient
  const spent = yield* sql`UPDATE recovery_codes SET ${RecoveryCodeRow.changes(sql, { used_at: yield* now })}
    WHERE subject = ${subject} AND code_hash = ${digest(code)} AND used_at IS NULL RETURNING id`
  return spent.length > 0
}, Effect.orDie)

/** Returns the number of the person's unused recovery codes. */
const recoveryCodesLeft = Effect.fn("recoveryCodesLeft")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const left = yield* sql`SELECT id FROM recovery_codes WHERE subject = ${subject} AND used_at IS NULL`
  return left.length
}, Effect.orDie)

// Length of a secret. It is the same as the length of the HMAC digest, as RFC 4226 recommends.
const secretBytes = 20
/** Number of wrong codes after which attempts are blocked for a while, because six digits could otherwise be guessed. */
const mostFailures = 5
const failureWindow = Duration.toMillis(Duration.minutes(15))

export interface SecondFactor {
  readonly active: boolean
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number
}

const seal = (subject: string) => ({ table: "totp_factors", column: "secret", workspaceId: null, rowId: subject })

const required = (message: string) => new ApiError({ code: "second_factor_required", message })
const missing = required("Give the code of your authenticator as well, or one of your recovery codes.")
const wrong = required("The code is wrong, too old, or was used before.")

/** Returns the remaining seconds of the lockout after too many wrong codes. */
const lockedFor = ({ failing_since, failures }: TotpRow, millis: number): number => {
  if (failing_since === null || failures < mostFailures) return 0
  return Math.ceil((Date.parse(failing_since) + failureWindow - millis) / 1000)
}

/**
 * The second factor of people who sign in by password: a time-based code (RFC 6238) from their authenticator, or a recovery code.
 * Each code is accepted once.
 */
export class SecondFactors extends Context.Service<
  SecondFactors,
  {
    readonly read: (subject: string) => Effect.Effect<SecondFactor>
    /**
     * Creates a secret in base32. The factor has no effect until the person enters its first code. Fails with
     * `failed_precondition` while a factor is active.
     */
    readonly begin: (subject: string) => Effect.Effect<Redacted.Redacted, ApiError>
    /**
     * Activates the factor with its first code, and returns the recovery codes. Fails with `failed_precondition` if no setup
     * is pending or a factor is already active, and also fails for the same reasons as `require`.
     */
    readonly activate: (
      context: CommandContext,
      subject: string,
      code: Redacted.Redacted
    ) => Effect.Effect<ReadonlyArray<Redacted.Redacted>, ApiError>
    /** Creates new recovery codes and revokes the previous ones. Fails with `failed_precondition` if no factor is active. */
    readonly renewCodes: (
      context: CommandContext,
      subject: string
    ) => Effect.Effect<ReadonlyArray<Redacted.Redacted>, ApiError>
    /** Idempotent. */
    readonly remove: (context: CommandContext, subject: string) => Effect.Effect<void>
    /**
     * Checks and uses up the code that comes with a correct password. Returns true if a factor was proven, and false if the
     * person has none. Fails with `second_factor_required` if the code is missing or wrong, and with `rate_limited` after five
     * wrong codes.
     */
    readonly require: (subject: string, code: Redacted.Redacted | undefined) => Effect.Effect<boolean, ApiError>
  }
>()("svc/actors/access/account/SecondFactors") {
  static readonly layer = Layer.effect(
    SecondFactors,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const audit = yield* Audit
  const notices = yield* AccountNotices

  const find = Effect.fnUntraced(function* (subject: string) {
    const [row] = yield* TotpRow.rows(sql)`SELECT * FROM totp_factors WHERE subject = ${subject}`
    return row
  }, Effect.orDie)

  const change = (row: TotpRow, values: Partial<TotpRow>) =>
    sql`UPDATE totp_factors SET ${TotpRow.changes(sql, values)} WHERE subject = ${row.subject}`

  const note = (context: CommandContext, subject: string, action: string, kind: NoticeKind) =>
    Effect.andThen(
      audit.append({
        workspaceId: null,
        actor: context.actor,
        action,
        target: { kind: "user", id: subject },
        requestId: context.requestId
      }),
      notices.write(subject, kind)
    )

  const spendTotp = Effect.fnUntraced(function* (row: TotpRow, code: string, millis: number) {
    const secret = yield* Effect.orDie(vault.open(seal(row.subject), row.secret))
    const step = stepOf(Redacted.value(secret), code, millis, row.last_step)
    if (step === undefined) return false
    yield* change(row, { last_step: step, failures: 0, failing_since: null })
    return true
  })

  const spendRecovery = Effect.fnUntraced(function* (row: TotpRow, code: string) {
    // Recovery codes exist only for an active factor.
    if (row.activated_at === null || !(yield* spendRecoveryCode(row.subject, code))) return false
    yield* change(row, { failures: 0, failing_since: null })
    yield* notices.write(row.subject, "recovery_code_used", String(yield* recoveryCodesLeft(row.subject)))
    return true
  })

  /** Checks a code. The attempt is counted in a separate commit first, so that no later failure can undo the count. */
  const spend = Effect.fnUntraced(function* (row: TotpRow, given: Redacted.Redacted) {
    const millis = yield* Clock.currentTimeMillis
    const wait = lockedFor(row, millis)
    if (wait > 0) return wait
    const code = Redacted.value(given).replaceAll(/\s/g, "")
    const accepted = /^[0-9]{6}$/.test(code) ? yield* spendTotp(row, code, millis) : yield* spendRecovery(row, code)
    if (accepted) return "accepted" as const
    const open = row.failing_since !== null && Date.parse(row.failing_since) + failureWindow > millis
    const failing = open ? { failures: row.failures + 1 } : { failures: 1, failing_since: yield* now }
    yield* change(row, failing)
    return "wrong" as const
  }, Effect.orDie)

  const settle = (outcome: "accepted" | "wrong" | number): Effect.Effect<void, ApiError> => {
    if (outcome === "accepted") return Effect.void
    if (outcome === "wrong") return Effect.fail(wrong)
    return Effect.fail(
      new ApiError({
        code: "rate_limited",
        message: "Too many wrong codes. Wait before trying again.",
        retryAfter: outcome
      })
    )
  }

  return yield* providedService(SecondFactors, {
    read: Effect.fn("SecondFactors.read")(function* (subject) {
      const row = yield* find(subject)
      const active = row !== undefined && row.activated_at !== null
      return { active, recoveryCodes: active ? yield* recoveryCodesLeft(subject) : 0 }
    }),
    begin: Effect.fn("SecondFactors.begin")(function* (subject) {
      if ((yield* find(subject))?.activated_at != null) {
        return yield* failedPrecondition("A second factor is active. Remove it before you set up another one.")
      }
      const passwords = yield* sql`SELECT subject FROM user_passwords WHERE subject = ${subject}`
      if (passwords.length === 0) {
        return yield* failedPrecondition("A second factor protects a password, but this account has no password.")
      }
      const random = yield* SecureRandom.SecureRandom
      const secret = yield* random.randomBytes(secretBytes)
      yield* sql`DELETE FROM totp_factors WHERE subject = ${subject}`
      yield* sql`INSERT INTO totp_factors ${TotpRow.values(sql, {
        subject,
        secret: yield* vault.seal(seal(subject), Redacted.make<Uint8Array>(secret)),
        created_at: yield* now,
        activated_at: null,
        last_step: null,
        failures: 0,
        failing_since: null
      })}`
      return Redacted.make(base32(secret).toUpperCase())
    }, transaction(sql)),
    activate: Effect.fn("SecondFactors.activate")(function* (context, subject, code) {
      const outcome = yield* Effect.gen(function* () {
        const row = yield* find(subject)
        if (row === undefined || row.activated_at !== null) {
          return yield* failedPrecondition("No second factor is being set up. Begin again.")
        }
        const spent = yield* spend(row, code)
        if (spent !== "accepted") return spent
        yield* change(row, { activated_at: yield* now })
        const codes = yield* issueRecoveryCodes(subject)
        yield* note(context, subject, "account.second_factor", "second_factor_on")
        return { codes }
      }).pipe(transaction(sql))
      if (typeof outcome === "object") return outcome.codes
      yield* settle(outcome)
      return []
    }),
    renewCodes: Effect.fn("SecondFactors.renewCodes")(function* (context, subject) {
      if ((yield* find(subject))?.activated_at == null) {
        return yield* failedPrecondition("Recovery codes stand in for a second factor, and none is active.")
      }
      const codes = yield* issueRecoveryCodes(subject)
      yield* note(context, subject, "account.recovery_codes", "recovery_codes")
      return codes
    }, transaction(sql)),
    remove: Effect.fn("SecondFactors.remove")(
      function* (context, subject) {
        const removed = yield* sql`DELETE FROM totp_factors WHERE subject = ${subject} RETURNING activated_at`
        yield* sql`DELETE FROM recovery_codes WHERE subject = ${subject}`
        if (removed.length > 0) yield* note(context, subject, "account.second_factor_remove", "second_factor_off")
      },
      transaction(sql),
      Effect.orDie
    ),
    require: Effect.fn("SecondFactors.require")(function* (subject, code) {
      const outcome = yield* Effect.gen(function* () {
        const row = yield* find(subject)
        if (row === undefined || row.activated_at === null) return "absent" as const
        return code === undefined ? ("missing" as const) : yield* spend(row, code)
      }).pipe(transaction(sql))
      if (outcome === "absent") return false
      yield* outcome === "missing" ? Effect.fail(missing) : settle(outcome)
      return true
    })
  })
})
