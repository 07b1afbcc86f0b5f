import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { addressForms, EmailAddress } from "../../../schema/records/EmailAddress.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import { AddressProof } from "../../../schema/records/Invitation.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { Grants } from "../issuer/Grants.ts"
import { AccountNotices } from "./AccountNotices.ts"
import { PasswordRow, StoredUser } from "./UserRow.ts"
import { markReportsOfAccount } from "../../ledger/pull-request-report/ReportMarks.ts"

export const User = Schema.Struct({
  subject: Subject,
  email: Schema.String,
  /** The proof of the address; `null` if the address is not verified. */
  emailProof: Schema.NullOr(AddressProof),
  displayName: Schema.NullOr(Schema.String),
  /** True for operators of the installation. The role grants nothing in any Workspace. */
  isOperator: Schema.Boolean,
  /** A `deleted` account keeps only its subject, for the operation history. */
  status: Schema.Literals(["active", "disabled", "deleted"]),
  createdAt: Timestamp
})
export type User = typeof User.Type

const UserRow = Schema.Struct({ ...User.fields, isOperator: Schema.BooleanFromBit })

export interface NewUser {
  /** Set if the subject was needed before the account existed, for example for a new passkey. */
  readonly subject?: Subject | undefined
  readonly email: string
  readonly emailProof?: AddressProof | undefined
  readonly displayName?: string | undefined
  /** The result of `Passwords.hash`. Compute the hash before the transaction, because hashing is slow. */
  readonly passwordHash?: string | undefined
  readonly isOperator: boolean
}

/** The accounts of people. Excludes automation members, which have no account. */
export class Users extends Context.Service<
  Users,
  {
    /**
     * Creates an account. Fails with `invalid_request` for an invalid address, and with `failed_precondition` if the address is
     * taken.
     */
    readonly create: (context: CommandContext, user: NewUser) => Effect.Effect<User, ApiError>
    /** Normalises an address for lookups. Fails with `invalid_request` if it is invalid. */
    readonly parseEmail: (text: string) => Effect.Effect<string, ApiError>
    readonly find: (subject: string) => Effect.Effect<Option.Option<User>>
    readonly findByEmail: (email: string) => Effect.Effect<Option.Option<User>>
    /**
     * Records that the person has proven this address. Keeps an earlier proof. Does nothing if the account has a different
     * address.
     */
    readonly proveAddress: (subject: string, email: string, proof: AddressProof) => Effect.Effect<void>
    /**
     * Changes the name that other people see; `null` removes the name. Fails with `not_found` if the account does not exist.
     */
    readonly rename: (
      context: CommandContext,
      subject: string,
      displayName: string | null
    ) => Effect.Effect<void, ApiError>
    /**
     * Changes the account's address (in normalised form) and records how it was proven. Revokes password reset links sent to the
     * previous address. Call it in a transaction that has checked that no other account has the address.
     */
    readonly setAddress: (
      context: CommandContext,
      subject: string,
      email: string,
      proof: AddressProof
    ) => Effect.Effect<void, ApiError>
    /** Returns true if any account exists. */
    readonly exist: Effect.Effect<boolean>
    /**
     * Sets the password from its hash. In the same transaction, revokes all of the person's sessions and grants, because somebody
     * else may have used the old password. Keeps personal access tokens.
     */
    readonly setPassword: (
      context: CommandContext,
      subject: string,
      passwordHash: string
    ) => Effect.Effect<void, ApiError>
    /** Removes the password of a person who now signs in with a passkey. Like `setPassword`, revokes sessions and grants. */
    readonly removePassword: (context: CommandContext, subject: string) => Effect.Effect<void, ApiError>
    /** Returns all accounts, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<User>>
    /** Locks an account everywhere, or unlocks it. Takes effect immediately. */
    readonly setStatus: (
      context: CommandContext,
      subject: string,
      status: "active" | "disabled"
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/account/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const grants = yield* Grants
      const notices = yield* AccountNotices
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const columns = sql.literal(
        `subject, email, email_proof AS "emailProof", display_name AS "displayName", is_operator AS "isOperator", status, created_at AS "createdAt"`
      )
      const findBySubject = (client: SqlClient.SqlClient) =>
        SqlSchema.findAll({
          Request: Schema.String,
          Result: UserRow,
          execute: (subject) => client`SELECT ${columns} FROM users WHERE subject = ${subject} AND kind = 'person'`
        })
      const findAll = SqlSchema.findAll({
        Request: Schema.Void,
        Result: UserRow,
        execute: () => read`SELECT ${columns} FROM users WHERE status <> 'deleted' ORDER BY created_at, subject`
      })
      const findByAddress = SqlSchema.findAll({
        Request: Schema.String,
        Result: UserRow,
        execute: (text) => {
          const [earlier, present] = addressForms(text)
          return read`SELECT ${columns} FROM users WHERE email IN (${earlier}, ${present}) AND kind = 'person'
            ORDER BY CASE WHEN email = ${earlier} THEN 0 ELSE 1 END`
        }
      })

      const parseEmail = (text: string) =>
        Schema.decodeEffect(EmailAddress)(text).pipe(
          Effect.mapError(() =>
            invalidRequest("email: give an e-mail address alone, such as ann@example.com, of at most 254 characters.")
          )
        )

      const storePassword = Effect.fnUntraced(function* (subject: string, hash: string) {
        const at = yield* now
        yield* sql`INSERT INTO user_passwords ${PasswordRow.values(sql, { subject, password_hash: hash, updated_at: at })}
          ON CONFLICT (subject) DO UPDATE SET password_hash = excluded.password_hash, updated_at = excluded.updated_at`
      })

      const create = Effect.fn("Users.create")(function* (context: CommandContext, user: NewUser) {
        const email = yield* parseEmail(user.email)
        const subject = user.subject ?? (yield* newId(Subject, "usr").pipe(withRandom))
        const created: User = {
          subject,
          email,
          emailProof: user.emailProof ?? null,
          displayName: user.displayName ?? null,
          isOperator: user.isOperator,
          status: "active",
          createdAt: yield* now
        }
        yield* Effect.gen(function* () {
          const inserted = yield* sql`INSERT INTO users ${StoredUser.values(sql, {
            subject,
            email,
            email_proof: created.emailProof,
            display_name: created.displayName,
            is_operator: created.isOperator ? 1 : 0,
            status: created.status,
            created_at: created.createdAt,
            updated_at: created.createdAt
          })} ON CONFLICT (email) DO NOTHING RETURNING subject`
          if (inserted.length === 0)
            return yield* failedPrecondition("email: an account with this address exists already.")
          if (user.passwordHash !== undefined) yield* storePassword(subject, user.passwordHash)
          yield* audit.append({
            workspaceId: null,
            actor: context.actor,
            action: "account.create",
            target: { kind: "user", id: subject },
            data: { operator: user.isOperator },
            requestId: context.requestId
          })
        }).pipe(transaction(sql))
        return created
      })

      const change = Effect.fnUntraced(function* (
        context: CommandContext,
        subject: string,
        action: string,
        effect: (present: User) => Effect.Effect<unknown, unknown>
      ) {
        const [user] = yield* Effect.orDie(findBySubject(sql)(subject))
        if (user === undefined) return yield* notFound("Account")
        yield* Effect.orDie(effect(user))
        yield* audit.append({
          workspaceId: null,
          actor: context.actor,
          action,
          target: { kind: "user", id: subject },
          requestId: context.requestId
        })
      })

      const endSessions = Effect.fnUntraced(function* (subject: string) {
        yield* sql`UPDATE account_sessions SET revoked_at = ${yield* now} WHERE subject = ${subject} AND revoked_at IS NULL`
        yield* grants.revokeSubject(subject)
      })

      return Users.of({
        create,
        parseEmail,
        find: Effect.fn("Users.find")(function* (subject) {
          return Option.fromUndefinedOr((yield* Effect.orDie(findBySubject(read)(subject)))[0])
        }),
        findByEmail: Effect.fn("Users.findByEmail")(function* (text) {
          return Option.fromUndefinedOr((yield* Effect.orDie(findByAddress(text)))[0])
        }),
        proveAddress: Effect.fn("Users.proveAddress")(function* (subject, text, proof) {
          const [earlier, present] = addressForms(text)
          yield* sql`UPDATE users SET ${StoredUser.changes(sql, { email_proof: proof })}
            WHERE subject = ${subject} AND email IN (${earlier}, ${present}) AND email_proof IS NULL`
        }, Effect.orDie),
        rename: Effect.fn("Users.rename")(function* (context, subject, displayName) {
          yield* change(context, subject, "account.rename", () =>
            Effect.flatMap(
              now,
              (at) => sql`UPDATE users SET ${StoredUser.changes(sql, { display_name: displayName, updated_at: at })}
                WHERE subject = ${subject}`
            )
          ).pipe(transaction(sql))
        }),
        setAddress: Effect.fn("Users.setAddress")(function* (context, subject, email, proof) {
          yield* change(
            context,
            subject,
            "account.address",
            Effect.fnUntraced(function* (present) {
              const at = yield* now
              // Send the notice before the change, so that the mail goes to the previous address.
              yield* notices.write(subject, "address", present.email)
              yield* sql`UPDATE users SET ${StoredUser.changes(sql, { email, email_proof: proof, updated_at: at })}
                WHERE subject = ${subject}`
              yield* sql`DELETE FROM setup_links WHERE subject = ${subject} AND used_at IS NULL`
              // The authors of commits are found by their addresses.
              yield* markReportsOfAccount(sql, subject)
            })
          )
        }),
        list: Effect.orDie(findAll(undefined)).pipe(Effect.withSpan("Users.list")),
        exist: Effect.map(sql`SELECT 1 AS one FROM users LIMIT 1`, (rows) => rows.length > 0).pipe(Effect.orDie),
        setPassword: Effect.fn("Users.setPassword")(function* (context, subject, hash) {
          yield* change(context, subject, "account.password", () =>
            storePassword(subject, hash).pipe(
              Effect.andThen(endSessions(subject)),
              Effect.andThen(notices.write(subject, "password"))
            )
          ).pipe(transaction(sql))
        }),
        removePassword: Effect.fn("Users.removePassword")(function* (context, subject) {
          yield* change(
            context,
            subject,
            "account.password_remove",
            Effect.fnUntraced(function* () {
              const removed = yield* sql`DELETE FROM user_passwords WHERE subject = ${subject} RETURNING subject`
              yield* endSessions(subject)
              if (removed.length > 0) yield* notices.write(subject, "password_removed")
            })
          ).pipe(transaction(sql))
        }),
        setStatus: Effect.fn("Users.setStatus")(function* (context, subject, status) {
          const update = Effect.fnUntraced(function* () {
            yield* sql`UPDATE users SET status = ${status}, updated_at = ${yield* now} WHERE subject = ${subject}`
            yield* markReportsOfAccount(sql, subject)
            if (status !== "disabled") return
            yield* endSessions(subject)
            // Deletes unused links, because they could otherwise open the account after it has been unlocked.
            yield* sql`DELETE FROM setup_links WHERE subject = ${subject} AND used_at IS NULL`
            yield* sql`DELETE FROM address_changes WHERE subject = ${subject} AND used_at IS NULL`
          })
          yield* change(context, subject, `account.${status}`, update).pipe(transaction(sql))
        })
      })
    })
  )
}
