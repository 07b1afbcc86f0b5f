import { expect } from "bun:test"
import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Passwords } from "../../../actors/access/account/Passwords.ts"
import { SetupLinks } from "../../../actors/access/account/SetupLinks.ts"
import { codeOf } from "../../../actors/access/account/SecondFactors.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { newPerson } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, fromPage, openSession } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layer))
const password = "correct horse battery"

const person = Effect.fnUntraced(function* (name: string) {
  const users = yield* Users
  const passwords = yield* Passwords
  const { email, subject } = yield* newPerson(name)
  yield* users.setPassword(serviceContext, subject, yield* passwords.hash(Redacted.make(password)))
  const { secret } = yield* openSession(subject)
  return { subject, email, headers: fromPage(secret) }
})
type Person = Effect.Success<ReturnType<typeof person>>

const Begun = Schema.Struct({ secret: Schema.String, uri: Schema.String })
const Codes = Schema.Struct({ recoveryCodes: Schema.Array(Schema.String) })
const Active = Schema.Struct({ active: Schema.Boolean, recoveryCodes: Schema.Int })

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
/** Decodes the secret from Base32, the format that authenticator apps expect. */
const fromBase32 = (text: string): Uint8Array => {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("")
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

const post = ({ headers }: Person, path: string, body: unknown = {}) => call(path, { body, headers })
const state = ({ headers }: Person) =>
  Effect.flatMap(call("/auth/second-factor", { headers }), ({ json }) => Schema.decodeUnknownEffect(Active)(json))

/** Returns the code that the person's authenticator currently shows. */
const codeNow = (key: Uint8Array) =>
  Effect.map(Clock.currentTimeMillis, (millis) => codeOf(key, Math.floor(millis / 30_000)))

const begin = Effect.fnUntraced(function* (who: Person) {
  const begun = yield* post(who, "/auth/second-factor")
  return yield* Schema.decodeUnknownEffect(Begun)(begun.json)
})

/** Sets up the second factor, and waits until its first code has expired. */
const protect = Effect.fnUntraced(function* (who: Person) {
  const { secret } = yield* begin(who)
  const key = fromBase32(secret)
  const activated = yield* post(who, "/auth/second-factor/activate", { code: yield* codeNow(key) })
  const { recoveryCodes } = yield* Schema.decodeUnknownEffect(Codes)(activated.json)
  yield* TestClock.adjust("30 seconds")
  return { key, recoveryCodes }
})

let visitors = 0
const signIn = ({ email }: Person, code?: string, given = password) =>
  call("/auth/sign-in", {
    body: { email, password: given, ...(code === undefined ? {} : { code }) },
    address: `203.0.113.${++visitors % 250}`
  })

it.effect("a second factor is required after the password, and each code works once", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ann = yield* person("ann")
    const { secret, uri } = yield* begin(ann)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(uri).toBe(`otpauth://totp/svc:ann%40example.com?secret=${secret}&issuer=svc`)
    // The second factor has no effect until its first code has been entered.
    expect((yield* signIn(ann)).status).toBe(200)
    expect((yield* post(ann, "/auth/second-factor/activate", { code: "000000" })).status).toBe(401)
    expect(yield* state(ann)).toEqual({ active: false, recoveryCodes: 0 })
    const { key } = yield* protect(ann)
    expect(yield* state(ann)).toEqual({ active: true, recoveryCodes: 10 })
    const [stored] = yield* sql<{ secret: string }>`SELECT secret FROM totp_factors`
    expect(stored?.secret).toMatch(/^v1\.dk_/)
    const refused = { status: 401, json: { error: { code: "second_factor_required" } } }
    expect(yield* signIn(ann)).toMatchObject(refused)
    // A wrong password gets the ordinary refusal, even with a correct code.
    const wrong = yield* signIn(ann, yield* codeNow(key), "not the password")
    expect(wrong).toMatchObject({ status: 401, json: { error: { code: "unauthenticated" } } })
    const code = yield* codeNow(key)
    expect((yield* signIn(ann, code)).status).toBe(200)
    expect(yield* signIn(ann, code)).toMatchObject(refused)
    yield* TestClock.adjust("30 seconds")
    expect((yield* signIn(ann, ` ${(yield* codeNow(key)).replace(/(...)/, "$1 ")}`)).status).toBe(200)
  }).pipe(fresh)
)

it.effect("five wrong codes block further attempts for fifteen minutes, even with the right code", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const { key, recoveryCodes } = yield* protect(ann)
    const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0")
    const guesses = Effect.fnUntraced(function* (count: number) {
      // Codes that are two time steps away from every accepted code, so they are always wrong.
      for (let n = 0; n < count; n++) {
        const { status } = yield* signIn(ann, other(other(yield* codeNow(key))))
        expect(status).toBe(401)
      }
    })
    yield* guesses(4)
    expect((yield* signIn(ann, yield* codeNow(key))).status).toBe(200)
    // A correct code resets the count of wrong codes.
    yield* guesses(5)
    yield* TestClock.adjust("30 seconds")
    const limited = yield* signIn(ann, yield* codeNow(key))
    expect(limited).toMatchObject({ status: 429, json: { error: { code: "rate_limited" } } })
    expect(Number(limited.headers.get("retry-after"))).toBe(870)
    expect((yield* signIn(ann, recoveryCodes[0])).status).toBe(429)
    yield* TestClock.adjust("14 minutes")
    expect((yield* signIn(ann, yield* codeNow(key))).status).toBe(429)
    yield* TestClock.adjust("30 seconds")
    expect((yield* signIn(ann, yield* codeNow(key))).status).toBe(200)
  }).pipe(fresh)
)

it.effect("a recovery code works once, however it is typed, and only for its owner", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const { recoveryCodes } = yield* protect(ann)
    yield* protect(bob)
    const [first = "", second = ""] = recoveryCodes
    expect(new Set(recoveryCodes).size).toBe(10)
    expect(first).toMatch(/^[a-z2-7]{4}(?:-[a-z2-7]{4}){3}$/)
    const stored = yield* sql<{ code_hash: string }>`SELECT code_hash FROM recovery_codes`
    expect(JSON.stringify(stored)).not.toContain(first.replaceAll("-", ""))
    expect((yield* signIn(bob, first)).status).toBe(401)
    expect((yield* signIn(ann, first.toUpperCase().replaceAll("-", " "))).status).toBe(200)
    expect((yield* signIn(ann, first)).status).toBe(401)
    expect(yield* state(ann)).toEqual({ active: true, recoveryCodes: 9 })
    const notices = yield* call("/auth/notices", { headers: ann.headers })
    expect(notices.json).toMatchObject({
      notices: expect.arrayContaining([expect.objectContaining({ kind: "recovery_code_used", detail: "9" })])
    })
    // New recovery codes invalidate the unused codes.
    const renewed = yield* post(ann, "/auth/second-factor/recovery-codes")
    const fresh = yield* Schema.decodeUnknownEffect(Codes)(renewed.json)
    expect((yield* signIn(ann, second)).status).toBe(401)
    expect((yield* signIn(ann, fresh.recoveryCodes[0])).status).toBe(200)
  }).pipe(fresh)
)

it.effect("confirming with a password also requires the second factor's code", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const { key } = yield* protect(ann)
    yield* TestClock.adjust("5 minutes")
    const ways = yield* call("/auth/confirmation", { headers: ann.headers })
    expect(ways.json).toEqual({ confirmed: false, password: true, code: true, passkeys: false })
    const confirm = (body: object) => post(ann, "/auth/confirmation/password", { password, ...body })
    expect(yield* confirm({})).toMatchObject({ status: 401, json: { error: { code: "second_factor_required" } } })
    expect((yield* confirm({ code: yield* codeNow(key) })).status).toBe(204)
  }).pipe(fresh)
)

it.effect(
  "an active second factor cannot be replaced, but can be removed after signing in with the operator's link",
  () =>
    Effect.gen(function* () {
      const ann = yield* person("ann")
      yield* protect(ann)
      expect((yield* post(ann, "/auth/second-factor")).status).toBe(409)
      expect((yield* post(ann, "/auth/second-factor/activate", { code: "123456" })).status).toBe(409)
      // A new password does not remove the second factor.
      const links = yield* SetupLinks
      const { secret } = yield* links.issueReset(ann.subject)
      const entered = yield* call("/auth/setup", { body: { secret: Redacted.value(secret), password } })
      const cookie = /svc_session=([^;]+)/.exec(entered.headers.get("set-cookie") ?? "")?.[1] ?? ""
      const back = { ...ann, headers: fromPage(Redacted.make(cookie)) }
      expect((yield* signIn(ann)).status).toBe(401)
      // A person who lost both the authenticator and the recovery codes can sign in with the operator's link and remove the second
      // factor.
      const removed = yield* call("/auth/second-factor", { method: "DELETE", headers: back.headers })
      expect(removed.status).toBe(204)
      expect(yield* state(back)).toEqual({ active: false, recoveryCodes: 0 })
      expect((yield* signIn(ann)).status).toBe(200)
      expect((yield* post(back, "/auth/second-factor/recovery-codes")).status).toBe(409)
    }).pipe(fresh)
)

it.effect("a second factor requires a password", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    const { secret } = yield* openSession(subject)
    const answer = yield* call("/auth/second-factor", { body: {}, headers: fromPage(secret) })
    expect(answer).toMatchObject({ status: 409, json: { error: { code: "failed_precondition" } } })
  }).pipe(fresh)
)
