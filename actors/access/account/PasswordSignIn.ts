import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { Passwords } from "./Passwords.ts"
import { SecondFactors } from "./SecondFactors.ts"
import { type OpenSession, Sessions } from "./Sessions.ts"
import { Users } from "./Users.ts"

export interface SignInRequest {
  readonly email: string
  readonly password: Redacted.Redacted
  /** The code of the second factor, if the person has set up a second factor. */
  readonly code?: Redacted.Redacted | undefined
  readonly userAgent?: string | undefined
  /** The browser's previous session. Signing in revokes it. */
  readonly replaces?: Redacted.Redacted | undefined
  readonly requestId?: string | undefined
}

export interface PasswordChange {
  readonly subject: string
  readonly next: Redacted.Redacted
  readonly userAgent?: string | undefined
}

const refused = () => new ApiError({ code: "unauthenticated", message: "The e-mail address or the password is wrong." })

/**
 * Signs people in by password. An unknown account, a locked account and a wrong password get the same response after the same
 * time. A second factor is requested only after a correct password.
 */
export class PasswordSignIn extends Context.Service<
  PasswordSignIn,
  {
    readonly signIn: (request: SignInRequest) => Effect.Effect<OpenSession & { readonly subject: string }, ApiError>
    /**
     * Returns true if a second factor was also proven. Fails with `permission_denied` if the password is wrong. If the code
     * is missing or wrong, fails as `SecondFactors.require` does.
     */
    readonly prove: (
      subject: string,
      password: Redacted.Redacted,
      code: Redacted.Redacted | undefined
    ) => Effect.Effect<boolean, ApiError>
    /**
     * Sets a new or first password, revokes every session and opens a new one. Fails with `invalid_request` if the password is
     * not acceptable.
     */
    readonly change: (context: CommandContext, request: PasswordChange) => Effect.Effect<OpenSession, ApiError>
  }
>()("svc/actors/access/account/PasswordSignIn") {
  static readonly layer = Layer.effect(
    PasswordSignIn,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const passwords = yield* Passwords
      const sessions = yield* Sessions
      const factors = yield* SecondFactors

      const findHash = SqlSchema.findAll({
        Request: Schema.String,
        Result: Schema.Struct({ hash: Schema.String }),
        execute: (subject) => sql`SELECT password_hash AS hash FROM user_passwords WHERE subject = ${subject}`
      })

      /** Rehashes the password at the current cost, unless somebody has changed it in the meantime. */
      const rehash = Effect.fnUntraced(function* (subject: string, password: Redacted.Redacted, before: string) {
        const hash = yield* passwords.hash(password)
        const stored = yield* sql`UPDATE user_passwords SET password_hash = ${hash}, updated_at = ${yield* now}
          WHERE subject = ${subject} AND password_hash = ${before} RETURNING subject`
        return stored.length === 1 ? hash : before
      })

      /**
       * Checks that the password, the account and the second factor did not change while the password was being compared,
       * which takes a while.
       */
      const requireUnchanged = Effect.fnUntraced(function* (subject: string, hash: string, isFactorProven: boolean) {
        const held = yield* sql`SELECT p.subject FROM user_passwords p JOIN users u ON u.subject = p.subject
          WHERE p.subject = ${subject} AND p.password_hash = ${hash} AND u.status = 'active'`
        if (held.length === 0) return yield* refused()
        // Fails with the error that the same request would now get.
        if (!isFactorProven) yield* factors.require(subject, undefined)
      })

      return PasswordSignIn.of({
        signIn: Effect.fn("PasswordSignIn.signIn")(function* (request) {
          const user = Option.filter(yield* users.findByEmail(request.email), ({ status }) => status === "active")
          const [stored] = Option.isSome(user) ? yield* Effect.orDie(findHash(user.value.subject)) : []
          const matches = yield* passwords.verify(request.password, stored?.hash)
          if (Option.isNone(user) || stored === undefined || !matches) return yield* refused()
          const { subject } = user.value
          const hash = passwords.isOutdated(stored.hash)
            ? yield* Effect.orElseSucceed(rehash(subject, request.password, stored.hash), () => stored.hash)
            : stored.hash
          const isFactorProven = yield* factors.require(subject, request.code)
          const opened = yield* Effect.gen(function* () {
            yield* requireUnchanged(subject, hash, isFactorProven)
            return yield* sessions.open({
              subject,
              method: "password",
              userAgent: request.userAgent,
              replaces: request.replaces,
              requestId: request.requestId
            })
          }).pipe(transaction(sql))
          return { ...opened, subject }
        }),
        prove: Effect.fn("PasswordSignIn.prove")(function* (subject, password, code) {
          const [stored] = yield* Effect.orDie(findHash(subject))
          if (!(yield* passwords.verify(password, stored?.hash))) {
            return yield* new ApiError({ code: "permission_denied", message: "The password is wrong." })
          }
          return yield* factors.require(subject, code)
        }),
        change: Effect.fn("PasswordSignIn.change")(function* (context, { next, subject, userAgent }) {
          const hash = yield* passwords.hash(next)
          return yield* Effect.andThen(
            users.setPassword(context, subject, hash),
            sessions.open({ subject, method: "password", userAgent, requestId: context.requestId })
          ).pipe(transaction(sql))
        })
      })
    })
  )
}
