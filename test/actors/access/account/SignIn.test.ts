import { expect } from "bun:test"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Accounts } from "../../../../actors/access/account/Accounts.ts"
import { Passwords } from "../../../../actors/access/account/Passwords.ts"
import { PasswordSignIn } from "../../../../actors/access/account/PasswordSignIn.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../../../actors/access/account/SetupLinks.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { newPerson, testAccounts, text } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"

const fresh = Effect.provide(Layer.fresh(testAccounts))
const password = Redacted.make("a long enough password")

const firstLink = Effect.flatMap(SetupLinks, (links) => links.issueFirst).pipe(Effect.map(Option.getOrThrow))
const redeem = (secret: Redacted.Redacted, email = "admin@example.com") =>
  Effect.flatMap(SetupLinks, (links) => links.redeem({ secret, password, email, displayName: "Admin" }))

it.effect(
  "the first-account link creates an operator account and a session for it, and svc issues no further link",
  () =>
    Effect.gen(function* () {
      const users = yield* Users
      const accounts = yield* Accounts
      const links = yield* SetupLinks
      const { secret } = yield* firstLink
      const opened = yield* redeem(secret)
      const principal = yield* accounts.authenticateSession(opened.secret)
      expect(principal).toMatchObject({ credential: "session", subject: opened.subject, scopes: "all" })
      expect(Option.getOrThrow(yield* users.find(opened.subject))).toMatchObject({
        email: "admin@example.com",
        isOperator: true
      })
      expect((yield* Effect.flip(redeem(secret))).code).toBe("not_found")
      expect(yield* links.inspect(secret)).toEqual({ state: "used", purpose: "first_account" })
      expect(Option.isNone(yield* links.issueFirst)).toBe(true)
    }).pipe(fresh)
)

it.effect(
  "a first-account link is invalid after 30 minutes, once a newer link is issued, or once an account exists",
  () =>
    Effect.gen(function* () {
      const links = yield* SetupLinks
      const old = yield* firstLink
      const next = yield* firstLink
      expect((yield* Effect.flip(redeem(old.secret))).code).toBe("not_found")
      expect((yield* Effect.flip(links.inspect(old.secret))).code).toBe("not_found")
      yield* TestClock.adjust("30 minutes")
      expect((yield* Effect.flip(redeem(next.secret))).code).toBe("not_found")
      expect(yield* links.inspect(next.secret)).toEqual({ state: "expired", purpose: "first_account" })
      const last = yield* firstLink
      expect(yield* links.inspect(last.secret)).toEqual({
        state: "live",
        purpose: "first_account",
        expiresAt: last.expiresAt
      })
      yield* newPerson("somebody")
      expect((yield* Effect.flip(redeem(last.secret))).code).toBe("not_found")
      expect(yield* links.inspect(last.secret)).toEqual({ state: "used", purpose: "first_account" })
      expect((yield* Effect.flip(redeem(Redacted.make("svct_guess")))).code).toBe("not_found")
    }).pipe(fresh)
)

it.effect("when two browsers race to redeem a first-account link, exactly one account is created", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { secret } = yield* firstLink
    const outcomes = yield* Effect.forEach(
      ["a@example.com", "b@example.com", "c@example.com"],
      (email) => Effect.result(redeem(secret, email)),
      { concurrency: "unbounded" }
    )
    expect(outcomes.filter(({ _tag }) => _tag === "Success").length).toBe(1)
    expect((yield* sql`SELECT subject FROM users`).length).toBe(1)
  }).pipe(fresh)
)

it.effect("a rejected attempt to redeem a link leaves the link usable", () =>
  Effect.gen(function* () {
    const links = yield* SetupLinks
    const { secret } = yield* firstLink
    expect(
      (yield* Effect.flip(links.redeem({ secret, password: Redacted.make("short"), email: "a@example.com" }))).code
    ).toBe("invalid_request")
    expect((yield* Effect.flip(links.redeem({ secret, password }))).code).toBe("invalid_request")
    expect((yield* Effect.flip(redeem(secret, "no address"))).code).toBe("invalid_request")
    yield* redeem(secret)
  }).pipe(fresh)
)

it.effect("a reset link sets a new password and revokes every session", () =>
  Effect.gen(function* () {
    const links = yield* SetupLinks
    const sessions = yield* Sessions
    const signIn = yield* PasswordSignIn
    const first = yield* redeem((yield* firstLink).secret)
    const { secret } = yield* links.issueReset(first.subject)
    const renewed = Redacted.make("another good password")
    const opened = yield* links.redeem({ secret, password: renewed })
    expect((yield* Effect.flip(sessions.authenticate(first.secret))).code).toBe("unauthenticated")
    expect((yield* sessions.authenticate(opened.secret)).subject).toBe(first.subject)
    expect((yield* Effect.flip(signIn.signIn({ email: "admin@example.com", password }))).code).toBe("unauthenticated")
    expect((yield* signIn.signIn({ email: "admin@example.com", password: renewed })).subject).toBe(first.subject)
    expect((yield* Effect.flip(links.issueReset("usr_unknown"))).code).toBe("not_found")
  }).pipe(fresh)
)

it.effect("a reset link shows its purpose, and also its account while the link is valid", () =>
  Effect.gen(function* () {
    const links = yield* SetupLinks
    const { email, subject } = yield* newPerson("ann")
    const { expiresAt, mailed, secret } = yield* links.issueReset(subject, true)
    // The server cannot send email, so the operator receives the link.
    expect(mailed).toBe(false)
    expect(yield* links.inspect(secret)).toEqual({ state: "live", purpose: "recovery", email, expiresAt })
    yield* links.redeem({ secret, password })
    const late = yield* links.issueReset(subject)
    yield* TestClock.adjust("30 minutes")
    expect(yield* links.inspect(secret)).toEqual({ state: "used", purpose: "recovery" })
    expect(yield* links.inspect(late.secret)).toEqual({ state: "expired", purpose: "recovery" })
    expect((yield* Effect.flip(links.redeem({ secret: late.secret, password }))).code).toBe("not_found")
    expect((yield* Effect.flip(links.inspect(Redacted.make("svct_guess")))).message).toBe("Setup link not found.")
  }).pipe(fresh)
)

it.effect("sign-in ignores the case of the email address, and every failed sign-in gets the same response", () =>
  Effect.gen(function* () {
    const signIn = yield* PasswordSignIn
    const users = yield* Users
    const { subject } = yield* redeem((yield* firstLink).secret)
    expect((yield* signIn.signIn({ email: " Admin@Example.COM", password })).subject).toBe(subject)
    const wrong = yield* Effect.flip(
      signIn.signIn({ email: "admin@example.com", password: Redacted.make("not the password") })
    )
    const unknown = yield* Effect.flip(signIn.signIn({ email: "nobody@example.com", password }))
    const odd = yield* Effect.flip(signIn.signIn({ email: "not an address", password }))
    yield* users.setStatus(serviceContext, subject, "disabled")
    const locked = yield* Effect.flip(signIn.signIn({ email: "admin@example.com", password }))
    for (const error of [unknown, odd, locked]) expect({ ...error }).toEqual({ ...wrong })
    expect(wrong.code).toBe("unauthenticated")
  }).pipe(fresh)
)

it.effect("an outdated password hash is renewed at the next sign-in", () =>
  Effect.gen(function* () {
    const signIn = yield* PasswordSignIn
    const passwords = yield* Passwords
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* redeem((yield* firstLink).secret)
    const weak = yield* Effect.promise(() =>
      Bun.password.hash(text(password), { algorithm: "argon2id", memoryCost: 1024, timeCost: 1 })
    )
    yield* sql`UPDATE user_passwords SET password_hash = ${weak}`
    yield* signIn.signIn({ email: "admin@example.com", password })
    const [row] = yield* sql<{
      password_hash: string
    }>`SELECT password_hash FROM user_passwords WHERE subject = ${subject}`
    expect(passwords.isOutdated(row?.password_hash ?? "")).toBe(false)
    expect((yield* signIn.signIn({ email: "admin@example.com", password })).subject).toBe(subject)
  }).pipe(fresh)
)

it.effect("using a session extends it for 30 days, and the session secret is not stored", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson("ann")
    const { secret, session } = yield* sessions.open({ subject, method: "password", userAgent: "x".repeat(1000) })
    expect(session.userAgent?.length).toBe(256)
    const dump = JSON.stringify(yield* sql`SELECT * FROM account_sessions`)
    expect(dump).not.toContain(text(secret))
    yield* TestClock.adjust(Duration.days(29))
    expect((yield* sessions.authenticate(secret)).subject).toBe(subject)
    // The session is extended in the background, and the list of sessions shows the new expiry.
    while ((yield* sessions.list(subject))[0]?.expiresAt === session.expiresAt) yield* Effect.yieldNow
    yield* TestClock.adjust(Duration.days(29))
    expect((yield* sessions.authenticate(secret)).subject).toBe(subject)
    yield* TestClock.adjust(Duration.days(61))
    expect((yield* Effect.flip(sessions.authenticate(secret))).code).toBe("unauthenticated")
  }).pipe(fresh)
)

it.effect("sign-in replaces the browser's session, and people can list and revoke only their own sessions", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const before = yield* sessions.open({ subject: ann.subject, method: "password" })
    const after = yield* sessions.open({ subject: ann.subject, method: "password", replaces: before.secret })
    expect(text(after.secret)).not.toBe(text(before.secret))
    expect((yield* Effect.flip(sessions.authenticate(before.secret))).code).toBe("unauthenticated")
    expect((yield* sessions.list(ann.subject)).map(({ id }) => id)).toEqual([after.session.id])
    expect((yield* Effect.flip(sessions.revoke(bob.subject, after.session.id))).code).toBe("not_found")
    expect((yield* sessions.authenticate(after.secret)).subject).toBe(ann.subject)
    const other = yield* sessions.open({ subject: ann.subject, method: "password" })
    yield* sessions.revokeAll(ann.subject, other.session.id)
    expect((yield* Effect.flip(sessions.authenticate(after.secret))).code).toBe("unauthenticated")
    yield* sessions.revoke(ann.subject, other.session.id)
    expect((yield* Effect.flip(sessions.authenticate(other.secret))).code).toBe("unauthenticated")
  }).pipe(fresh)
)

it.effect("locking an account permanently revokes its sessions", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const users = yield* Users
    const { subject } = yield* newPerson("ann")
    const { secret } = yield* sessions.open({ subject, method: "password" })
    yield* users.setStatus(serviceContext, subject, "disabled")
    expect((yield* Effect.flip(sessions.authenticate(secret))).code).toBe("unauthenticated")
    yield* users.setStatus(serviceContext, subject, "active")
    expect((yield* Effect.flip(sessions.authenticate(secret))).code).toBe("unauthenticated")
  }).pipe(fresh)
)

it.effect("a link cannot open a locked account, whether the link was issued before or after the lock", () =>
  Effect.gen(function* () {
    const users = yield* Users
    const links = yield* SetupLinks
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson("ann")
    const earlier = yield* links.issueReset(subject)
    yield* users.setStatus(serviceContext, subject, "disabled")
    expect((yield* Effect.flip(redeem(earlier.secret))).code).toBe("not_found")
    const later = yield* links.issueReset(subject)
    expect((yield* Effect.flip(redeem(later.secret))).code).toBe("not_found")
    expect((yield* Effect.flip(links.inspect(later.secret))).code).toBe("not_found")
    expect(yield* sql`SELECT id FROM account_sessions`).toEqual([])
    yield* users.setStatus(serviceContext, subject, "active")
    expect((yield* redeem(later.secret)).subject).toBe(subject)
    // A link issued before a lock remains invalid after the account is unlocked.
    const last = yield* links.issueReset(subject)
    yield* users.setStatus(serviceContext, subject, "disabled")
    yield* users.setStatus(serviceContext, subject, "active")
    expect((yield* Effect.flip(redeem(last.secret))).code).toBe("not_found")
  }).pipe(fresh)
)

it.effect("an email address belongs to only one account", () =>
  Effect.gen(function* () {
    const users = yield* Users
    yield* newPerson("ann")
    const taken = yield* Effect.flip(users.create(serviceContext, { email: "ANN@example.com", isOperator: false }))
    expect(taken.code).toBe("failed_precondition")
  }).pipe(fresh)
)
