import { expect } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { PasswordSignIn } from "../../../actors/access/account/PasswordSignIn.ts"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../../actors/access/account/SetupLinks.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, setupSecret } from "./support/AccountServer.ts"
import { makeAuthenticator, type Situation } from "./support/SoftAuthenticator.ts"

const origin = "https://svc.example.com"
const fresh = Effect.provide(Layer.fresh(AccountServer.layerAt(origin)))
const here: Situation = { origin, rpId: "svc.example.com" }
const email = "admin@example.com"

let caller = 0
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(path, { body, headers, address: `203.0.113.${++caller % 250}` })
const options = (secret: string, person: object = { email }) =>
  post("/auth/setup/passkey-options", { secret, ...person })
const challengeOf = (raw: string) => /"challenge":"([\w-]+)"/.exec(raw)?.[1] ?? ""
const challenge = (secret: string) => Effect.map(options(secret), ({ raw }) => challengeOf(raw))
const redeem = (secret: string, response: unknown, person: object = { email, displayName: "Admin" }) =>
  post("/auth/setup/passkey", { secret, name: "laptop", response, ...person })

/** Returns the rows, by table, that a completed setup would have written. */
const written = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Record<string, number>>`SELECT
    (SELECT COUNT(*) FROM users) AS users, (SELECT COUNT(*) FROM passkeys) AS passkeys,
    (SELECT COUNT(*) FROM account_sessions) AS sessions, (SELECT COUNT(*) FROM user_passwords) AS passwords,
    (SELECT COUNT(*) FROM setup_links WHERE used_at IS NOT NULL) AS used`
  return { ...row }
})
const nothing = { users: 0, passkeys: 0, sessions: 0, passwords: 0, used: 0 }

it.effect(
  "a person can create the first account with a passkey instead of a password, and sign in with the passkey later",
  () =>
    Effect.gen(function* () {
      const users = yield* Users
      const secret = yield* setupSecret
      const device = makeAuthenticator()
      const asked = yield* options(secret, { email: " Admin@Example.com", displayName: "Admin" })
      expect(asked).toMatchObject({
        status: 200,
        json: { options: { rp: { id: "svc.example.com" }, user: { name: email, displayName: "Admin" } } }
      })
      expect(yield* written).toEqual(nothing)
      const made = yield* redeem(secret, device.create(challengeOf(asked.raw), here))
      expect(made).toMatchObject({ status: 201, json: { session: { method: "setup" } } })
      expect(made.headers.get("set-cookie")).toStartWith("__Host-svc_session=svcs_")
      expect(made.headers.get("cache-control")).toBe("no-store")
      expect(yield* written).toEqual({ users: 1, passkeys: 1, sessions: 1, passwords: 0, used: 1 })
      const user = Option.getOrThrow(yield* users.findByEmail(email))
      expect(user).toMatchObject({ displayName: "Admin", isOperator: true })
      const asking = yield* post("/auth/passkeys/sign-in-options", {})
      const signedIn = yield* post("/auth/passkeys/sign-in", {
        response: device.get(challengeOf(asking.raw), here, 2, user.subject)
      })
      expect(signedIn).toMatchObject({ status: 200, json: { subject: user.subject } })
      expect((yield* options(secret)).status).toBe(404)
    }).pipe(fresh)
)

it.effect("a passkey setup that fails verification writes nothing, and the link remains valid", () =>
  Effect.gen(function* () {
    const secret = yield* setupSecret
    const device = makeAuthenticator()
    for (const situation of [
      { ...here, origin: "https://evil.example" },
      { ...here, rpId: "evil.example" },
      { ...here, userVerified: false }
    ]) {
      const answer = yield* redeem(secret, device.create(yield* challenge(secret), situation))
      expect(answer).toMatchObject({ status: 400, json: { error: { code: "invalid_request" } } })
    }
    for (const response of [{}, null, "x", device.create("made-up", here)])
      expect((yield* redeem(secret, response)).status).toBe(400)
    const late = device.create(yield* challenge(secret), here)
    yield* TestClock.adjust("5 minutes")
    expect((yield* redeem(secret, late)).status).toBe(400)
    const spent = yield* challenge(secret)
    expect((yield* redeem(secret, device.create(spent, here), { email: "no address" })).status).toBe(400)
    expect((yield* redeem(secret, device.create(spent, here))).status).toBe(400)
    expect(yield* written).toEqual(nothing)
    expect((yield* redeem(secret, device.create(yield* challenge(secret), here))).status).toBe(201)
  }).pipe(fresh)
)

it.effect("passkey setup requires a valid link and an email address, and rejects other sites", () =>
  Effect.gen(function* () {
    const secret = yield* setupSecret
    expect((yield* options(secret, {})).status).toBe(400)
    expect((yield* options(secret, { email: "no address" })).status).toBe(400)
    expect((yield* options(`${secret}x`)).status).toBe(404)
    expect((yield* redeem(`${secret}x`, makeAuthenticator().create(yield* challenge(secret), here))).status).toBe(404)
    const foreign = yield* post("/auth/setup/passkey-options", { secret, email }, { "sec-fetch-site": "cross-site" })
    expect(foreign.status).toBe(403)
    for (const body of [{ secret, email, extra: 1 }, {}, [], { secret: "" }]) {
      const answer = yield* post("/auth/setup/passkey-options", body)
      expect(answer.status).toBe(400)
      expect(answer.raw).not.toContain(secret)
    }
    expect(yield* written).toEqual(nothing)
  }).pipe(fresh)
)

it.effect(
  "when two browsers use the same setup link, exactly one creates an account, and the other writes nothing",
  () =>
    Effect.gen(function* () {
      const secret = yield* setupSecret
      const answers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(challenge(secret), (given) => makeAuthenticator().create(given, here))
      )
      const outcomes = yield* Effect.forEach(answers, (answer) => redeem(secret, answer), { concurrency: "unbounded" })
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual([201, 404, 404])
      expect(yield* written).toEqual({ users: 1, passkeys: 1, sessions: 1, passwords: 0, used: 1 })
    }).pipe(fresh)
)

it.effect("a setup challenge is valid only for its link, and only for setups", () =>
  Effect.gen(function* () {
    const links = yield* SetupLinks
    const users = yield* Users
    const secret = yield* setupSecret
    const device = makeAuthenticator()
    expect((yield* redeem(secret, device.create(yield* challenge(secret), here))).status).toBe(201)
    const { subject } = Option.getOrThrow(yield* users.findByEmail(email))
    const old = text((yield* links.issueReset(subject)).secret)
    const atOld = yield* challenge(old)
    const next = text((yield* links.issueReset(subject)).secret)
    expect((yield* redeem(next, makeAuthenticator().create(atOld, here), {})).status).toBe(400)
    const asking = challengeOf((yield* post("/auth/passkeys/sign-in-options", {})).raw)
    expect((yield* redeem(next, makeAuthenticator().create(asking, here), {})).status).toBe(400)
    // The passkey is already registered, so svc writes nothing and the link remains valid.
    const before = yield* written
    expect((yield* redeem(next, device.create(yield* challenge(next), here), {})).status).toBe(409)
    expect(yield* written).toEqual(before)
    expect((yield* redeem(next, makeAuthenticator().create(yield* challenge(next), here), {})).status).toBe(201)
  }).pipe(fresh)
)

it.effect("a setup link shows its purpose, and afterwards whether it was used or has expired", () =>
  Effect.gen(function* () {
    const links = yield* SetupLinks
    const users = yield* Users
    const inspect = (secret: string) => post("/auth/setup/link", { secret })
    const secret = yield* setupSecret
    const spare = yield* inspect(secret)
    expect(spare).toMatchObject({ status: 200, json: { link: { state: "live", purpose: "first_account" } } })
    expect((yield* redeem(secret, makeAuthenticator().create(yield* challenge(secret), here))).status).toBe(201)
    expect(yield* inspect(secret)).toMatchObject({
      status: 200,
      json: { link: { state: "used", purpose: "first_account" } }
    })
    const { subject } = Option.getOrThrow(yield* users.findByEmail(email))
    const { expiresAt, secret: mine } = yield* links.issueReset(subject)
    const reset = text(mine)
    expect((yield* inspect(reset)).json).toEqual({ link: { state: "live", purpose: "recovery", email, expiresAt } })
    yield* TestClock.adjust("31 minutes")
    expect((yield* inspect(reset)).json).toEqual({ link: { state: "expired", purpose: "recovery" } })
    expect((yield* options(reset, {})).status).toBe(404)
    expect((yield* inspect(`${reset}x`)).status).toBe(404)
  }).pipe(fresh)
)

it.effect("recovering an account with a passkey revokes the old password and every session", () =>
  Effect.gen(function* () {
    const links = yield* SetupLinks
    const sessions = yield* Sessions
    const passwords = yield* PasswordSignIn
    const password = Redacted.make("a long enough password")
    const first = yield* links.redeem({ secret: Redacted.make(yield* setupSecret), password, email })
    const secret = text((yield* links.issueReset(first.subject)).secret)
    const asked = yield* options(secret, {})
    expect(asked.json).toMatchObject({ options: { user: { name: email } } })
    const recovered = yield* redeem(secret, makeAuthenticator().create(challengeOf(asked.raw), here), {})
    expect(recovered).toMatchObject({ status: 201, json: { subject: first.subject } })
    expect((yield* Effect.flip(sessions.authenticate(first.secret))).code).toBe("unauthenticated")
    expect((yield* Effect.flip(passwords.signIn({ email, password }))).code).toBe("unauthenticated")
    expect(yield* written).toEqual({ users: 1, passkeys: 1, sessions: 2, passwords: 0, used: 2 })
  }).pipe(fresh)
)

it.effect("a server addressed by IP offers no passkey during setup", () =>
  Effect.gen(function* () {
    const secret = yield* setupSecret
    expect(yield* options(secret)).toMatchObject({ status: 501, json: { error: { code: "capability_not_available" } } })
    expect(yield* call("/auth/offer")).toMatchObject({ status: 200, json: { password: true, passkeys: false } })
  }).pipe(Effect.provide(Layer.fresh(AccountServer.layer)))
)
