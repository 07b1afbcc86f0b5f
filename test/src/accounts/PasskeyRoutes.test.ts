import { expect } from "bun:test"
import { Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { newPerson, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, openSession } from "./support/AccountServer.ts"
import { makeAuthenticator, type Situation } from "./support/SoftAuthenticator.ts"

const origin = "https://svc.example.com"
const fresh = Effect.provide(Layer.fresh(AccountServer.layerAt(origin)))
const here: Situation = { origin, rpId: "svc.example.com" }

const headersOf = (secret: Redacted.Redacted) => ({
  cookie: `__Host-svc_session=${text(secret)}`,
  "sec-fetch-site": "same-origin"
})

const person = Effect.fnUntraced(function* (name: string) {
  const { subject } = yield* newPerson(name)
  const { secret } = yield* openSession(subject)
  return { subject, headers: headersOf(secret) }
})
type Person = Effect.Success<ReturnType<typeof person>>

const challengeOf = (raw: string) => /"challenge":"([\w-]+)"/.exec(raw)?.[1] ?? ""
const registrationChallenge = ({ headers }: Person) =>
  Effect.map(call("/auth/passkeys/registration-options", { body: {}, headers }), ({ raw }) => challengeOf(raw))
const signInChallenge = (address?: string) =>
  Effect.map(
    call("/auth/passkeys/sign-in-options", { body: {}, ...(address === undefined ? {} : { address }) }),
    ({ raw }) => challengeOf(raw)
  )
const register = ({ headers }: Person, response: unknown) =>
  call("/auth/passkeys", { body: { name: "laptop", response }, headers })
let caller = 0
const signIn = (response: unknown) =>
  call("/auth/passkeys/sign-in", { body: { response }, address: `203.0.113.${++caller % 250}` })

/** Creates a person with a registered passkey. */
const holder = Effect.fnUntraced(function* (name: string) {
  const who = yield* person(name)
  const device = makeAuthenticator()
  expect((yield* register(who, device.create(yield* registrationChallenge(who), here))).status).toBe(201)
  return { ...who, device }
})

it.effect("a registered passkey signs in its owner, and its public key is stored encrypted", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ann = yield* person("ann")
    const device = makeAuthenticator()
    const options = yield* call("/auth/passkeys/registration-options", { body: {}, headers: ann.headers })
    expect(options.json).toMatchObject({
      options: {
        rp: { id: "svc.example.com", name: "svc" },
        user: { name: "ann@example.com", displayName: "ann" },
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        attestation: "none"
      }
    })
    const registered = yield* register(ann, device.create(challengeOf(options.raw), here))
    expect(registered).toMatchObject({
      status: 201,
      json: { passkey: { name: "laptop", backedUp: false, lastUsedAt: null } }
    })
    const [row] = yield* sql<{ public_key: string }>`SELECT public_key FROM passkeys`
    expect(row?.public_key).toMatch(/^v1\.dk_/)
    const answer = yield* signIn(device.get(yield* signInChallenge(), here, 2, ann.subject))
    expect(answer).toMatchObject({ status: 200, json: { subject: ann.subject, session: { method: "passkey" } } })
    expect(answer.headers.get("set-cookie")).toStartWith("__Host-svc_session=svcs_")
    const excluded = yield* call("/auth/passkeys/registration-options", { body: {}, headers: ann.headers })
    expect(excluded.json).toMatchObject({ options: { excludeCredentials: [{ id: device.id }] } })
  }).pipe(fresh)
)

it.effect("a passkey response is refused for another site, without user verification, or with a wrong signature", () =>
  Effect.gen(function* () {
    const { device, subject } = yield* holder("ann")
    const wrong: ReadonlyArray<Situation> = [
      { ...here, origin: "https://evil.example" },
      { ...here, origin: "http://svc.example.com" },
      { ...here, origin: "https://svc.example.com.evil.example" },
      { ...here, rpId: "evil.example" },
      { ...here, rpId: "example.com" },
      { ...here, userVerified: false }
    ]
    for (const situation of wrong) {
      const answer = yield* signIn(device.get(yield* signInChallenge(`203.0.113.${caller}`), situation, 5, subject))
      expect([situation, answer.status]).toEqual([situation, 401])
    }
    const good = device.get(yield* signInChallenge("198.51.100.7"), here, 6, subject)
    const forged = {
      ...good,
      response: { ...good.response, signature: makeAuthenticator().get("x", here, 6).response.signature }
    }
    expect((yield* signIn(forged)).status).toBe(401)
    expect((yield* signIn(good)).status).toBe(401)
  }).pipe(fresh)
)

it.effect("a passkey challenge works once, within five minutes, and only for its purpose", () =>
  Effect.gen(function* () {
    const { device, subject } = yield* holder("ann")
    const good = device.get(yield* signInChallenge(), here, 2, subject)
    expect((yield* signIn(good)).status).toBe(200)
    expect((yield* signIn(good)).status).toBe(401)
    const late = device.get(yield* signInChallenge(), here, 3, subject)
    yield* TestClock.adjust("5 minutes")
    expect((yield* signIn(late)).status).toBe(401)
    // After five minutes, the session's confirmation has expired as well, so the test opens a new session.
    const { secret } = yield* openSession(subject)
    const ann = { subject, headers: headersOf(secret) }
    expect((yield* signIn(device.get(yield* registrationChallenge(ann), here, 4, subject))).status).toBe(401)
    expect((yield* signIn(device.get("made-up", here, 5, subject))).status).toBe(401)
    const other = makeAuthenticator()
    expect((yield* register(ann, other.create(yield* signInChallenge(), here))).status).toBe(400)
    // A passkey cannot be registered with another person's challenge.
    const bob = yield* person("bob")
    expect((yield* register(bob, other.create(yield* registrationChallenge(ann), here))).status).toBe(400)
    const listed = yield* call("/auth/passkeys", { headers: bob.headers })
    expect(listed.json).toEqual({ passkeys: [] })
  }).pipe(fresh)
)

it.effect("a copied passkey is detected by a counter that goes backwards", () =>
  Effect.gen(function* () {
    const { device, subject } = yield* holder("ann")
    expect((yield* signIn(device.get(yield* signInChallenge(), here, 9, subject))).status).toBe(200)
    for (const counter of [9, 3, 0]) {
      expect((yield* signIn(device.get(yield* signInChallenge(), here, counter, subject))).status).toBe(401)
    }
    expect((yield* signIn(device.get(yield* signInChallenge(), here, 10, subject))).status).toBe(200)
  }).pipe(fresh)
)

it.effect("an unknown passkey, another person's handle and a locked account get the same refusal", () =>
  Effect.gen(function* () {
    const users = yield* Users
    const { device, subject } = yield* holder("ann")
    const bob = yield* person("bob")
    const strip = (raw: string) => raw.replace(/req_\w+/, "")
    const unknown = yield* signIn(makeAuthenticator().get(yield* signInChallenge(), here, 2))
    const handle = yield* signIn(device.get(yield* signInChallenge(), here, 2, bob.subject))
    yield* users.setStatus(serviceContext, subject, "disabled")
    const locked = yield* signIn(device.get(yield* signInChallenge(), here, 2, subject))
    for (const answer of [unknown, handle, locked]) {
      expect(answer.status).toBe(401)
      expect(strip(answer.raw)).toBe(strip(unknown.raw))
    }
  }).pipe(fresh)
)

it.effect("registration refuses a passkey that fails verification or is already registered", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const device = makeAuthenticator()
    for (const situation of [
      { ...here, origin: "https://evil.example" },
      { ...here, rpId: "evil.example" },
      { ...here, userVerified: false }
    ]) {
      const answer = yield* register(ann, device.create(yield* registrationChallenge(ann), situation))
      expect(answer).toMatchObject({ status: 400, json: { error: { code: "invalid_request" } } })
    }
    for (const response of [{}, null, "x", { ...device.create("c", here), id: "with space" }]) {
      expect((yield* register(ann, response)).status).toBe(400)
    }
    expect((yield* register(ann, device.create(yield* registrationChallenge(ann), here))).status).toBe(201)
    expect((yield* register(ann, device.create(yield* registrationChallenge(ann), here))).status).toBe(409)
  }).pipe(fresh)
)

it.effect("people can remove only their own passkeys, and only from svc's own pages", () =>
  Effect.gen(function* () {
    const ann = yield* holder("ann")
    const bob = yield* person("bob")
    const { raw } = yield* call("/auth/passkeys", { headers: ann.headers })
    const id = /pky_\w+/.exec(raw)?.[0]
    const remove = (headers: Record<string, string>) => call(`/auth/passkeys/${id}`, { method: "DELETE", headers })
    expect((yield* remove({ ...ann.headers, "sec-fetch-site": "cross-site" })).status).toBe(403)
    expect((yield* remove(bob.headers)).status).toBe(404)
    expect((yield* call("/auth/passkeys/registration-options", { body: {} })).status).toBe(401)
    // The last sign-in method cannot be removed. After a second method has been added, the first can be removed.
    expect(yield* remove(ann.headers)).toMatchObject({ status: 409, json: { error: { code: "failed_precondition" } } })
    const second = makeAuthenticator()
    expect((yield* register(ann, second.create(yield* registrationChallenge(ann), here))).status).toBe(201)
    expect((yield* remove(ann.headers)).status).toBe(204)
    expect((yield* signIn(second.get(yield* signInChallenge(), here, 2, ann.subject))).status).toBe(200)
    expect((yield* signIn(ann.device.get(yield* signInChallenge(), here, 2, ann.subject))).status).toBe(401)
  }).pipe(fresh)
)

it.effect("a server addressed by IP reports that it does not support passkeys", () =>
  Effect.gen(function* () {
    const answer = yield* call("/auth/passkeys/sign-in-options", { body: {} })
    expect(answer).toMatchObject({ status: 501, json: { error: { code: "capability_not_available" } } })
  }).pipe(Effect.provide(Layer.fresh(AccountServer.layer)))
)
