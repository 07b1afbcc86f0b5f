import { expect } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Passwords } from "../../../actors/access/account/Passwords.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { accountRoutes } from "./support/AccountRoutes.ts"
import { newPerson, newWorkspace, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, openSession } from "./support/AccountServer.ts"
import { makeAuthenticator, type Situation } from "./support/SoftAuthenticator.ts"

const origin = "https://svc.example.com"
const fresh = Effect.provide(Layer.fresh(AccountServer.layerAt(origin)))
const here: Situation = { origin, rpId: "svc.example.com" }
const password = "correct horse battery"

const page = (secret: Redacted.Redacted) => ({
  cookie: `__Host-svc_session=${text(secret)}`,
  "sec-fetch-site": "same-origin"
})

/** Creates a signed-in person with a password. */
const person = Effect.fnUntraced(function* (name: string) {
  const users = yield* Users
  const passwords = yield* Passwords
  const { subject } = yield* newPerson(name)
  yield* users.setPassword(serviceContext, subject, yield* passwords.hash(Redacted.make(password)))
  const { secret } = yield* openSession(subject)
  return { subject, headers: page(secret) }
})
type Person = Effect.Success<ReturnType<typeof person>>

const read = ({ headers }: Person) => Effect.map(call("/auth/confirmation", { headers }), ({ json }) => json)
const byPassword = ({ headers }: Person, given: string) =>
  call("/auth/confirmation/password", { body: { password: given }, headers })
const challengeOf = (raw: string) => /"challenge":"([\w-]+)"/.exec(raw)?.[1] ?? ""
const changed = { newPassword: "another good password" }

/** Actions that the person at the browser must confirm. Add every sensitive account route to this list. */
const sensitive: ReadonlySet<string> = new Set([
  "POST /auth/password",
  "POST /auth/address",
  "POST /auth/address/link",
  "POST /auth/second-factor",
  "DELETE /auth/second-factor",
  "POST /auth/second-factor/activate",
  "POST /auth/second-factor/recovery-codes",
  "POST /auth/passkeys",
  "POST /auth/passkeys/registration-options",
  "DELETE /auth/passkeys/:passkeyId",
  "DELETE /auth/upstream/identities/:identityId"
])

it.effect("five minutes after sign-in, sensitive routes require confirmation, and other routes do not", () =>
  Effect.gen(function* () {
    const { headers } = yield* person("ann")
    yield* TestClock.adjust("5 minutes")
    const asked: Array<string> = []
    for (const [method, path] of accountRoutes) {
      // Sign-out routes end the session.
      if (/sign-out/.test(path)) continue
      const body = method === "POST" ? { body: { bogus: 1 } } : {}
      const { json, status } = yield* call(path.replace(/:\w+/, "nothing"), { method, headers, ...body }).pipe(
        // Some routes return HTML pages, which cannot be parsed as JSON and never require a confirmation.
        Effect.catchDefect(() => Effect.succeed({ json: undefined, status: 200 }))
      )
      const code = JSON.stringify(json ?? "").includes("reauthentication_required")
      if (code) asked.push(`${method} ${path} ${status}`)
    }
    expect(asked.toSorted()).toEqual([...sensitive].map((name) => `${name} 403`).toSorted())
  }).pipe(fresh)
)

it.effect("a password confirms the person for five minutes, in the same session only", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ann = yield* person("ann")
    const { secret } = yield* openSession(ann.subject)
    const elsewhere = { ...ann, headers: page(secret) }
    expect(yield* read(ann)).toEqual({ confirmed: true, password: true, code: false, passkeys: false })
    yield* TestClock.adjust("5 minutes")
    expect(yield* read(ann)).toEqual({ confirmed: false, password: true, code: false, passkeys: false })
    const wrong = yield* byPassword(ann, "not the password")
    expect(wrong).toMatchObject({ status: 403, json: { error: { code: "permission_denied" } } })
    expect(yield* read(ann)).toMatchObject({ confirmed: false })
    expect((yield* byPassword(ann, password)).status).toBe(204)
    expect(yield* read(ann)).toMatchObject({ confirmed: true })
    expect(yield* read(elsewhere)).toMatchObject({ confirmed: false })
    yield* TestClock.adjust("299 seconds")
    expect(yield* read(ann)).toMatchObject({ confirmed: true })
    yield* TestClock.adjust("1 second")
    expect((yield* call("/auth/password", { body: changed, headers: ann.headers })).status).toBe(403)
    const events = yield* sql`SELECT data FROM audit_events WHERE action = 'session.confirm'`
    expect(events).toEqual([{ data: '{"method":"password"}' }])
  }).pipe(fresh)
)

it.effect("attempts to guess a confirmation are limited", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    for (let n = 0; n < 10; n++) expect((yield* byPassword(ann, "a wrong guess")).status).toBe(403)
    expect(yield* byPassword(ann, password)).toMatchObject({ status: 429, json: { error: { code: "rate_limited" } } })
  }).pipe(fresh)
)

it.effect("a passkey confirms only its owner, and only with a confirmation challenge", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const device = makeAuthenticator()
    const options = yield* call("/auth/passkeys/registration-options", { body: {}, headers: ann.headers })
    const response = device.create(challengeOf(options.raw), here)
    expect((yield* call("/auth/passkeys", { body: { name: "key", response }, headers: ann.headers })).status).toBe(201)
    yield* TestClock.adjust("5 minutes")
    const ask = ({ headers }: Person) => call("/auth/confirmation/passkey-options", { body: {}, headers })
    const answer = ({ headers }: Person, response: unknown) =>
      call("/auth/confirmation/passkey", { body: { response }, headers })
    expect(yield* read(ann)).toEqual({ confirmed: false, password: true, code: false, passkeys: true })
    const asked = yield* ask(ann)
    expect(asked.json).toMatchObject({
      options: { allowCredentials: [{ id: device.id }], userVerification: "required" }
    })
    // Bob cannot use Ann's passkey, neither with his challenge nor with hers.
    const hers = device.get(challengeOf(asked.raw), here, 2, ann.subject)
    expect((yield* answer(bob, hers)).status).toBe(403)
    const his = device.get(challengeOf((yield* ask(bob)).raw), here, 3, ann.subject)
    expect((yield* answer(bob, his)).status).toBe(403)
    // Challenges are not interchangeable: a sign-in challenge cannot confirm, and a confirmation challenge cannot sign in.
    const signIn = yield* call("/auth/passkeys/sign-in-options", { body: {} })
    expect((yield* answer(ann, device.get(challengeOf(signIn.raw), here, 4, ann.subject))).status).toBe(403)
    const confirming = device.get(challengeOf((yield* ask(ann)).raw), here, 5, ann.subject)
    expect((yield* call("/auth/passkeys/sign-in", { body: { response: confirming } })).status).toBe(401)
    expect([yield* read(ann), yield* read(bob)]).toMatchObject([{ confirmed: false }, { confirmed: false }])
    const good = device.get(challengeOf((yield* ask(ann)).raw), here, 6, ann.subject)
    expect((yield* answer(ann, good)).status).toBe(204)
    expect(yield* read(ann)).toMatchObject({ confirmed: true })
    expect((yield* answer(ann, good)).status).toBe(403)
  }).pipe(fresh)
)

it.effect("a session confined to a Workspace, or used from another site, cannot confirm anything", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const { id } = yield* newWorkspace(ann.subject, { handle: "acme" })
    const confined = { ...ann, headers: page((yield* openSession(ann.subject, id)).secret) }
    expect((yield* byPassword(confined, password)).status).toBe(403)
    const foreign = { ...ann, headers: { ...ann.headers, "sec-fetch-site": "cross-site" } }
    expect(yield* byPassword(foreign, password)).toMatchObject({ json: { error: { code: "csrf_failed" } } })
  }).pipe(fresh)
)
