import { afterAll, describe, expect } from "bun:test"
import { Effect, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Confirmations } from "../../../../actors/access/account/Confirmations.ts"
import { Passwords } from "../../../../actors/access/account/Passwords.ts"
import { PasswordSignIn } from "../../../../actors/access/account/PasswordSignIn.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { beforeTransaction } from "../../../support/BeforeTransaction.ts"
import { suite } from "../../../support/Effect.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { pureModules, pureRunner } from "../../support/PureRunner.ts"

const { interrupted, layer: writer } = beforeTransaction()
const tests = suite(testPlane({ runner: pureRunner(pureModules()), writer }))
afterAll(tests.dispose)

const password = Redacted.make("the first password of this person")

const person = Effect.fnUntraced(function* (name: string) {
  const passwordHash = yield* (yield* Passwords).hash(password)
  const email = `${name}@example.test`
  const { subject } = yield* (yield* Users).create(serviceContext, { email, isOperator: false, passwordHash })
  return { email, subject }
})

const sessionsOf = Effect.fnUntraced(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT id FROM account_sessions WHERE subject = ${subject} AND revoked_at IS NULL`
})

const at = "2026-01-01T00:00:00.000Z"
/** Activates a second factor, as another browser would. */
const activation = (sql: SqlClient.SqlClient, subject: string) =>
  Effect.orDie(
    sql`INSERT INTO totp_factors ${sql.insert({ subject, secret: "sealed", created_at: at, activated_at: at, failures: 0 })}`
  )

// A sign-in uses two transactions. The first only counts the second-factor attempt, so the race must occur in the second.
const lastTransaction = 2

describe("Password races", () => {
  tests.live("a sign-in opens no session if the password is replaced after svc has compared it", () =>
    Effect.gen(function* () {
      const { email, subject } = yield* person("replaced")
      const next = yield* (yield* Passwords).hash(Redacted.make("the second password of this person"))
      const signIn = (yield* PasswordSignIn).signIn({ email, password, code: undefined })
      const replaced = Effect.orDie((yield* Users).setPassword(serviceContext, subject, next))
      const answer = yield* interrupted(signIn, replaced, lastTransaction)
      expect(Result.isFailure(answer) && answer.failure.code).toBe("unauthenticated")
      expect(yield* sessionsOf(subject)).toEqual([])
    })
  )

  tests.live("a sign-in opens no session if the account is locked after the password comparison", () =>
    Effect.gen(function* () {
      const { email, subject } = yield* person("locked")
      const signIn = (yield* PasswordSignIn).signIn({ email, password, code: undefined })
      const locked = Effect.orDie((yield* Users).setStatus(serviceContext, subject, "disabled"))
      const answer = yield* interrupted(signIn, locked, lastTransaction)
      expect(Result.isFailure(answer) && answer.failure.code).toBe("unauthenticated")
      expect(yield* sessionsOf(subject)).toEqual([])
    })
  )

  const turnedOn = (name: string, code: Redacted.Redacted | undefined) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { email, subject } = yield* person(name)
      const signIn = (yield* PasswordSignIn).signIn({ email, password, code })
      const answer = yield* interrupted(signIn, activation(sql, subject), lastTransaction)
      expect(Result.isFailure(answer)).toBe(true)
      expect(yield* sessionsOf(subject)).toEqual([])
    })

  tests.live("a session stays unconfirmed if a second factor is activated during the confirmation", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { subject } = yield* person("confirming")
      const { session } = yield* (yield* Sessions).open({ subject, method: "upstream" })
      const asking = { subject, sessionId: session.id }
      const confirm = (yield* Confirmations).byPassword(asking, password, Redacted.make("000000"))
      const answer = yield* interrupted(confirm, activation(sql, subject), lastTransaction)
      expect(Result.isFailure(answer) && answer.failure.code).toBe("second_factor_required")
      expect(yield* sql`SELECT confirmed_at FROM account_sessions WHERE subject = ${subject}`).toEqual([
        { confirmed_at: null }
      ])
    })
  )

  tests.live("a sign-in without a code opens no session if a second factor is activated during the sign-in", () =>
    turnedOn("factor", undefined)
  )

  tests.live(
    "a sign-in with an unverified code opens no session if a second factor is activated during the sign-in",
    () => turnedOn("made-up", Redacted.make("000000"))
  )
})
