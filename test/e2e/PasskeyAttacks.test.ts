import { expect, setDefaultTimeout } from "bun:test"
import { randomBytes } from "node:crypto"
import { SettingsService } from "@simplewebauthn/server"
import { Effect } from "effect"
import { makeAuthenticator, type Situation } from "../src/accounts/support/SoftAuthenticator.ts"
import { it } from "../support/Effect.ts"
import {
  type AttackBrowser,
  attackedOrigin,
  attackedServer,
  attempt,
  browserAt,
  quietPlatform,
  signInAs,
  whoIs
} from "./support/AttackedServer.ts"

setDefaultTimeout(60_000)

const here: Situation = { origin: attackedOrigin, rpId: "svc.example.test" }

type Authenticator = ReturnType<typeof makeAuthenticator>
type Assertion = ReturnType<Authenticator["get"]>

const optionsFor = {
  signIn: "/auth/passkeys/sign-in-options",
  registration: "/auth/passkeys/registration-options",
  confirmation: "/auth/confirmation/passkey-options"
} as const

const challengeOf = async (browser: AttackBrowser, purpose: keyof typeof optionsFor): Promise<string> => {
  const { status, text } = await browser.act(optionsFor[purpose], {})
  expect([purpose, status]).toEqual([purpose, 200])
  return JSON.parse(text).options.challenge
}

const register = async (browser: AttackBrowser, authenticator: Authenticator, counter = 0) => {
  const challenge = await challengeOf(browser, "registration")
  const response = authenticator.create(challenge, here, counter)
  const done = await browser.act("/auth/passkeys", { name: "a key", response })
  expect(done.status).toBe(201)
  return JSON.parse(done.text).passkey.id
}

const enter = (browser: AttackBrowser, response: unknown) => browser.act("/auth/passkeys/sign-in", { response })

/** Requests in which a passkey must be rejected although the person holds the device. */
const wrongSituations: ReadonlyArray<readonly [name: string, situation: Situation]> = [
  ...[
    "http://svc.example.test",
    "https://svc.example.test:8443",
    "https://svc.example.test/",
    "https://sub.svc.example.test",
    "https://example.test",
    "https://svc.example.test.evil.test",
    "https://svc.example.test@evil.test",
    "HTTPS://SVC.EXAMPLE.TEST",
    "https://evil.test",
    "android:apk-key-hash:c2lnbmVk",
    "null",
    ""
  ].map((origin) => [`the origin ${origin}`, { ...here, origin }] as const),
  ...["example.test", "sub.svc.example.test", "evil.test", "SVC.EXAMPLE.TEST", "svc.example.test.", ""].map(
    (rpId) => [`the relying party ${rpId}`, { ...here, rpId }] as const
  ),
  ["a frame on another site", { ...here, clientData: { crossOrigin: true } }],
  ["a frame, as text", { ...here, clientData: { crossOrigin: "true" } }],
  ["a page around the frame", { ...here, clientData: { topOrigin: "https://evil.test" } }],
  ["our own page around the frame", { ...here, clientData: { topOrigin: attackedOrigin } }],
  ["a payment", { ...here, clientData: { type: "payment.get" } }],
  ["no type", { ...here, clientData: { type: undefined } }],
  ["no origin", { ...here, clientData: { origin: undefined } }],
  ["two origins", { ...here, clientData: { origin: [attackedOrigin] } }],
  ["nobody verified", { ...here, userVerified: false }],
  ["nobody present", { ...here, userPresent: false }]
]

it.live("a passkey signs in only its owner, only on this site and only for this challenge", () =>
  Effect.gen(function* () {
    const server = yield* attackedServer()
    const ann = yield* server.person("ann")
    const eve = yield* server.person("eve")
    const owner = browserAt(server.url)
    const rival = browserAt(server.url)
    yield* attempt(() => signInAs(owner, "ann"))
    yield* attempt(() => signInAs(rival, "eve"))
    const ofAnn = makeAuthenticator()
    const ofEve = makeAuthenticator()
    yield* attempt(() => register(owner, ofAnn))
    yield* attempt(() => register(rival, ofEve))
    const stranger = makeAuthenticator()
    const withResponse = (assertion: Assertion, response: Partial<Assertion["response"]>): Assertion => ({
      ...assertion,
      response: { ...assertion.response, ...response }
    })
    const url = (text: string) => Buffer.from(text).toString("base64url")

    type Attack = (browser: AttackBrowser) => Promise<unknown>
    const fresh = (browser: AttackBrowser) => challengeOf(browser, "signIn")
    const answered =
      (make: (challenge: string) => unknown): Attack =>
      async (browser) =>
        make(await fresh(browser))
    const attacks: ReadonlyArray<readonly [name: string, attack: Attack]> = [
      ...wrongSituations.map(
        ([name, situation]) => [name, answered((challenge) => ofAnn.get(challenge, situation, 0))] as const
      ),
      [
        "the answer to a registration",
        answered((challenge) => ofAnn.get(challenge, { ...here, clientData: { type: "webauthn.create" } }, 0))
      ],
      ["an unknown challenge", async () => ofAnn.get(randomBytes(32).toString("base64url"), here, 0)],
      ["no challenge", async () => ofAnn.get("", here, 0)],
      [
        "a challenge in a list",
        answered((challenge) => ofAnn.get("", { ...here, clientData: { challenge: [challenge] } }, 0))
      ],
      ["a challenge with padding", answered((challenge) => ofAnn.get(`${challenge}=`, here, 0))],
      [
        "a challenge that was issued to register",
        async () => ofAnn.get(await challengeOf(owner, "registration"), here, 0)
      ],
      [
        "a challenge that was issued to confirm",
        async () => ofAnn.get(await challengeOf(owner, "confirmation"), here, 0)
      ],
      [
        "the signature of another key",
        answered((challenge) => ({ ...stranger.get(challenge, here, 0), id: ofAnn.id, rawId: ofAnn.id }))
      ],
      [
        "the signature of another person",
        answered((challenge) => ({ ...ofEve.get(challenge, here, 0), id: ofAnn.id, rawId: ofAnn.id }))
      ],
      [
        "an id that differs from the raw id",
        answered((challenge) => ({ ...ofAnn.get(challenge, here, 0), id: ofEve.id }))
      ],
      ["an unknown passkey", answered((challenge) => stranger.get(challenge, here, 0))],
      ["the handle of another person", answered((challenge) => ofAnn.get(challenge, here, 0, eve))],
      ["an unknown handle", answered((challenge) => ofAnn.get(challenge, here, 0, "usr_nobody"))],
      ["an empty signature", answered((challenge) => withResponse(ofAnn.get(challenge, here, 0), { signature: "AA" }))],
      [
        "a signature over other client data",
        answered((challenge) =>
          withResponse(ofAnn.get(challenge, here, 0), {
            clientDataJSON: url(JSON.stringify({ type: "webauthn.get", challenge, origin: attackedOrigin, extra: 1 }))
          })
        )
      ],
      [
        "a counter that was raised afterwards",
        answered((challenge) => {
          const assertion = ofAnn.get(challenge, here, 1)
          const data = Buffer.from(assertion.response.authenticatorData, "base64url")
          data.writeUInt32BE(9, 33)
          return withResponse(assertion, { authenticatorData: data.toString("base64url") })
        })
      ],
      [
        "authenticator data that ends early",
        answered((challenge) => withResponse(ofAnn.get(challenge, here, 0), { authenticatorData: "AAAA" }))
      ],
      [
        "client data that is no JSON",
        answered((challenge) => withResponse(ofAnn.get(challenge, here, 0), { clientDataJSON: url("{") }))
      ]
    ]
    const seen: Array<readonly [name: string, status: number, subject: string | undefined]> = []
    for (const [name, attack] of attacks) {
      const browser = browserAt(server.url)
      const { status } = yield* attempt(async () => enter(browser, await attack(browser)))
      seen.push([name, status, yield* attempt(() => whoIs(browser))])
    }
    expect(seen).toEqual(attacks.map(([name]) => [name, 401, undefined]))

    // Each attack fails only because of its one change: the unchanged response signs in, but only once, even over several
    // connections.
    const browser = browserAt(server.url)
    const honest = yield* attempt(async () => ofAnn.get(await fresh(browser), here, 5, ann))
    const statuses = yield* attempt(() =>
      Promise.all(Array.from({ length: 6 }, async () => (await enter(browserAt(server.url), honest)).status))
    )
    expect(statuses.toSorted()).toEqual([200, 401, 401, 401, 401, 401])
    // A copied device sends a counter that repeats, goes back or starts again.
    for (const counter of [5, 4, 1, 0]) {
      const copy = browserAt(server.url)
      const answer = yield* attempt(async () => ofAnn.get(await fresh(copy), here, counter, ann))
      expect([counter, (yield* attempt(() => enter(copy, answer))).status]).toEqual([counter, 401])
    }
    // The device and its copy respond to different challenges at the same time, with the same counter.
    const twice = yield* attempt(() =>
      Promise.all(
        [6, 6].map(async (counter) => {
          const each = browserAt(server.url)
          return (await enter(each, ofAnn.get(await fresh(each), here, counter, ann))).status
        })
      )
    )
    expect(twice.toSorted()).toEqual([200, 401])
  }).pipe(Effect.provide(quietPlatform))
)

it.live("a session can be confirmed only with a passkey of the signed-in person and a challenge for that session", () =>
  Effect.gen(function* () {
    const server = yield* attackedServer()
    yield* server.person("ann")
    yield* server.person("eve")
    const [owner, second, rival] = [browserAt(server.url), browserAt(server.url), browserAt(server.url)]
    yield* attempt(() => signInAs(owner, "ann"))
    yield* attempt(() => signInAs(second, "ann"))
    yield* attempt(() => signInAs(rival, "eve"))
    const ofAnn = makeAuthenticator()
    const ofEve = makeAuthenticator()
    yield* attempt(() => register(owner, ofAnn))
    yield* attempt(() => register(rival, ofEve))
    yield* server.sql`UPDATE account_sessions SET confirmed_at = NULL`
    const confirm = (browser: AttackBrowser, response: unknown) =>
      Effect.map(
        attempt(() => browser.act("/auth/confirmation/passkey", { response })),
        ({ status }) => status
      )
    const asked = (browser: AttackBrowser, purpose: keyof typeof optionsFor) =>
      attempt(() => challengeOf(browser, purpose))

    expect(yield* confirm(owner, ofEve.get(yield* asked(owner, "confirmation"), here, 0))).toBe(403)
    expect(yield* confirm(owner, ofAnn.get(yield* asked(rival, "confirmation"), here, 0))).toBe(403)
    expect(yield* confirm(owner, ofAnn.get(yield* asked(owner, "signIn"), here, 0))).toBe(403)
    // A response for another session of the same person is rejected, in both directions.
    expect(yield* confirm(second, ofAnn.get(yield* asked(owner, "confirmation"), here, 0))).toBe(403)
    expect(yield* confirm(owner, ofAnn.get(yield* asked(second, "confirmation"), here, 0))).toBe(403)
    for (const [name, situation] of wrongSituations) {
      const challenge = yield* asked(owner, "confirmation")
      expect([name, yield* confirm(owner, ofAnn.get(challenge, situation, 0))]).toEqual([name, 403])
    }
    // No attempt above confirmed the session, so a change that needs a confirmation is still refused.
    expect((yield* attempt(() => owner.act(optionsFor.registration, {}))).status).toBe(403)
    const challenge = yield* asked(owner, "confirmation")
    const answer = ofAnn.get(challenge, here, 3)
    expect(yield* confirm(owner, answer)).toBe(204)
    expect(yield* confirm(owner, answer)).toBe(403)
    expect(yield* confirm(second, answer)).toBe(403)
    expect((yield* attempt(() => owner.act(optionsFor.registration, {}))).status).toBe(200)
    expect((yield* attempt(() => second.act(optionsFor.registration, {}))).status).toBe(403)
  }).pipe(Effect.provide(quietPlatform))
)

it.live(
  "a passkey can be registered only once and only from this site, and never replaces another person's passkey",
  () =>
    Effect.gen(function* () {
      const server = yield* attackedServer()
      yield* server.person("ann")
      yield* server.person("eve")
      const [owner, second, rival] = [browserAt(server.url), browserAt(server.url), browserAt(server.url)]
      yield* attempt(() => signInAs(owner, "ann"))
      yield* attempt(() => signInAs(second, "ann"))
      yield* attempt(() => signInAs(rival, "eve"))
      const ofAnn = makeAuthenticator()
      yield* attempt(() => register(owner, ofAnn))
      const stored = server.sql`SELECT credential_id, subject, public_key FROM passkeys ORDER BY id`
      const before = yield* stored
      const add = (browser: AttackBrowser, response: unknown) =>
        Effect.map(
          attempt(() => browser.act("/auth/passkeys", { name: "mine", response })),
          ({ status }) => status
        )
      const asked = (browser: AttackBrowser) => attempt(() => challengeOf(browser, "registration"))
      for (const [name, situation] of wrongSituations) {
        const response = makeAuthenticator().create(yield* asked(rival), situation)
        expect([name, yield* add(rival, response)]).toEqual([name, 400])
      }
      const asGet = { ...here, clientData: { type: "webauthn.get" } }
      expect(yield* add(rival, makeAuthenticator().create(yield* asked(rival), asGet))).toBe(400)
      // Tries the attacker's key with the id of another person's passkey, and then the other person's passkey.
      const sameId = makeAuthenticator(Buffer.from(ofAnn.id, "base64url"))
      expect(yield* add(rival, sameId.create(yield* asked(rival), here))).toBe(409)
      expect(yield* add(rival, ofAnn.create(yield* asked(rival), here))).toBe(409)
      // Tries challenges for another person, another session and another purpose, and no challenge at all.
      expect(yield* add(rival, makeAuthenticator().create(yield* asked(owner), here))).toBe(400)
      expect(yield* add(owner, makeAuthenticator().create(yield* asked(second), here))).toBe(400)
      const forSignIn = yield* attempt(() => challengeOf(rival, "signIn"))
      expect(yield* add(rival, makeAuthenticator().create(forSignIn, here))).toBe(400)
      expect(yield* add(rival, makeAuthenticator().create("", here))).toBe(400)
      // Tries an id longer than the standard allows.
      expect(yield* add(rival, makeAuthenticator(randomBytes(1024)).create(yield* asked(rival), here))).toBe(400)
      expect(yield* stored).toEqual(before)

      // Sends one response on several connections, and answers two challenges with one device at once.
      const response = makeAuthenticator().create(yield* asked(rival), here)
      const once = yield* Effect.all(
        Array.from({ length: 5 }, () => add(rival, response)),
        { concurrency: "unbounded" }
      )
      expect(once.toSorted()).toEqual([201, 400, 400, 400, 400])
      const device = makeAuthenticator()
      const both = [device.create(yield* asked(rival), here), device.create(yield* asked(owner), here)] as const
      const raced = yield* Effect.all([add(rival, both[0]), add(owner, both[1])], { concurrency: "unbounded" })
      expect(raced.toSorted()).toEqual([201, 409])
      expect(yield* stored).toHaveLength(3)
      // If the library had root certificates, it would fetch a revocation list from any address that a response's certificate
      // contains.
      for (const identifier of ["android-key", "android-safetynet", "apple", "fido-u2f", "packed", "tpm"] as const) {
        expect([identifier, SettingsService.getRootCertificates({ identifier })]).toEqual([identifier, []])
      }
    }).pipe(Effect.provide(quietPlatform))
)

it.live("an account keeps its last sign-in method when several are removed at once", () =>
  Effect.gen(function* () {
    const server = yield* attackedServer()
    const ann = yield* server.person("ann")
    yield* server.person("eve")
    const owner = browserAt(server.url)
    const rival = browserAt(server.url)
    yield* attempt(() => signInAs(owner, "ann"))
    yield* attempt(() => signInAs(rival, "eve"))
    const ids: Array<string> = []
    for (let index = 0; index < 4; index++) ids.push(yield* attempt(() => register(owner, makeAuthenticator())))
    yield* server.sql`DELETE FROM user_passwords WHERE subject = ${ann}`
    const remove = (browser: AttackBrowser, id: string | undefined) =>
      Effect.map(
        attempt(() => browser.act(`/auth/passkeys/${id}`, undefined, "DELETE")),
        ({ status }) => status
      )
    expect(yield* remove(rival, ids[0])).toBe(404)
    const statuses = yield* Effect.all(
      ids.map((id) => remove(owner, id)),
      { concurrency: "unbounded" }
    )
    expect(statuses.toSorted()).toEqual([204, 204, 204, 409])
    expect(yield* server.sql`SELECT id FROM passkeys WHERE subject = ${ann}`).toHaveLength(1)
  }).pipe(Effect.provide(quietPlatform))
)
