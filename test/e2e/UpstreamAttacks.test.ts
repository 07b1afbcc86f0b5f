import { expect, setDefaultTimeout } from "bun:test"
import { createHmac } from "node:crypto"
import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import {
  type AttackAnswer,
  type AttackBrowser,
  attackedServer,
  attempt,
  browserAt,
  fromOwnPage,
  passwordOf,
  quietPlatform,
  sessionCookie,
  signInAs,
  whoIs
} from "./support/AttackedServer.ts"
import {
  type Lie,
  providerClient,
  providerSecret,
  type SignInProvider,
  signInProvider,
  unsigned
} from "./support/SignInProvider.ts"

setDefaultTimeout(60_000)

const pendingCookie = "__Host-svc_upstream"

const settingsFor = ({ issuer }: SignInProvider, more: Readonly<Record<string, string>> = {}) => ({
  upstreamOidcIssuer: issuer,
  upstreamOidcClientId: providerClient,
  upstreamOidcClientSecret: providerSecret,
  ...more
})

const annAt = { sub: "ann-there", email: "ann@example.test", email_verified: true }

const start = async (browser: AttackBrowser, query = ""): Promise<string> =>
  (await browser.visit(`/auth/upstream/start${query}`, { headers: fromOwnPage })).location

const arrive = (browser: AttackBrowser, answer: URLSearchParams): Promise<AttackAnswer> =>
  browser.visit(`/auth/upstream/callback?${answer.toString()}`, { headers: { "sec-fetch-site": "cross-site" } })

/** Performs a complete sign-in. */
const enter = async (browser: AttackBrowser, provider: SignInProvider, claims: Readonly<Record<string, unknown>>) =>
  arrive(browser, provider.authorize(await start(browser), claims))

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

const signedByHmac = (key: string, claims: Readonly<Record<string, unknown>>, kid: string): string => {
  const body = `${base64url({ alg: "HS256", kid })}.${base64url(claims)}`
  return `${body}.${createHmac("sha256", key).update(body).digest("base64url")}`
}

it.live("svc rejects every forged provider response, and every token from another provider", () =>
  Effect.gen(function* () {
    const trusted = yield* signInProvider("trusted")
    const hostile = yield* signInProvider("hostile")
    const server = yield* attackedServer(settingsFor(trusted))
    const ann = yield* server.person("ann")
    const seconds = Math.floor(Date.now() / 1000)
    const { jwk, pem } = trusted.state.signer
    const spare = yield* trusted.newKey(jwk.kid)
    const foreign = hostile.state.signer
    const remote = `${hostile.issuer}/jwks`
    type Change = (answer: URLSearchParams) => void
    const attacks: ReadonlyArray<
      readonly [name: string, lie: Lie, change?: Change | undefined, signer?: typeof foreign]
    > = [
      ["no signature", { idToken: (claims) => unsigned(claims) }],
      ["alg None", { idToken: (claims) => unsigned(claims, "None") }],
      ["HS256 with the published key as PEM", { idToken: (claims) => signedByHmac(pem, claims, jwk.kid) }],
      ["HS256 with the published key as JSON", { idToken: (claims) => signedByHmac(JSON.stringify(jwk), claims, "") }],
      ["HS256 with the modulus", { idToken: (claims) => signedByHmac(jwk.n ?? "", claims, jwk.kid) }],
      ["HS256 with the client's secret", { idToken: (claims) => signedByHmac(providerSecret, claims, jwk.kid) }],
      ["an unknown kid", { header: { kid: "nobody" } }],
      ["an unpublished key under the published kid", {}, undefined, spare],
      ["a foreign key in the token", { header: { kid: undefined, jwk: foreign.jwk } }, undefined, foreign],
      ["a foreign key set named in the token", { header: { jku: remote } }, undefined, foreign],
      ["a foreign certificate named in the token", { header: { x5u: remote } }, undefined, foreign],
      ["a token of another provider", { idToken: (claims) => hostile.sign({ ...claims, iss: hostile.issuer }) }],
      ["a token that another provider made for this one", { idToken: (claims) => hostile.sign(claims) }],
      ["no issuer", { claims: { iss: undefined } }],
      ["an issuer with a slash", { claims: { iss: `${trusted.issuer}/` } }],
      ["another issuer", { claims: { iss: hostile.issuer } }],
      ["another audience", { claims: { aud: "somebody" } }],
      ["no audience", { claims: { aud: undefined } }],
      ["two audiences without a party", { claims: { aud: [providerClient, "other"] } }],
      ["two audiences and another party", { claims: { aud: [providerClient, "other"], azp: "other" } }],
      ["one audience and another party", { claims: { azp: "other" } }],
      ["one audience in a list and another party", { claims: { aud: [providerClient], azp: "other" } }],
      ["expired", { claims: { exp: seconds - 300 } }],
      ["no expiry", { claims: { exp: undefined } }],
      ["an expiry as text", { claims: { exp: String(seconds + 300) } }],
      ["not valid yet", { claims: { nbf: seconds + 3600 } }],
      ["issued tomorrow", { claims: { iat: seconds + 86_400, exp: seconds + 90_000 } }],
      ["issued an hour ahead", { claims: { iat: seconds + 3600, exp: seconds + 3660 } }],
      ["no time of issue", { claims: { iat: undefined } }],
      ["no nonce", { claims: { nonce: undefined } }],
      ["another nonce", { claims: { nonce: "n".repeat(43) } }],
      ["no subject", { claims: { sub: undefined } }],
      ["an empty subject", { claims: { sub: "" } }],
      ["a subject of 256 characters", { claims: { sub: "s".repeat(256) } }],
      ["a subject that is a number", { claims: { sub: 7 } }],
      ["four parts", { idToken: async (claims) => `${await trusted.sign(claims)}.x` }],
      ["no token", { idToken: () => "" }],
      ["another issuer with the code", {}, (answer) => answer.set("iss", hostile.issuer)],
      ["no issuer with the code", {}, (answer) => answer.delete("iss")],
      ["two issuers with the code", {}, (answer) => answer.append("iss", hostile.issuer)],
      ["no state", {}, (answer) => answer.delete("state")],
      ["another state", {}, (answer) => answer.set("state", "s".repeat(43))],
      ["two states", {}, (answer) => answer.append("state", "s")],
      ["two codes", {}, (answer) => answer.append("code", "c")],
      ["an unknown code", {}, (answer) => answer.set("code", "c")],
      ["a token in the address", {}, (answer) => answer.set("id_token", "x")]
    ]
    const seen: Array<readonly [name: string, status: number, subject: string | undefined]> = []
    for (const [name, lie, change = () => {}, signer] of attacks) {
      const browser = browserAt(server.url)
      const honest = trusted.state.signer
      const done = yield* attempt(async () => {
        const answer = trusted.authorize(await start(browser), annAt)
        change(answer)
        trusted.state.lie = lie
        if (signer !== undefined) trusted.state.signer = signer
        return arrive(browser, answer)
      })
      trusted.state.lie = {}
      trusted.state.signer = honest
      seen.push([name, done.status, yield* attempt(() => whoIs(browser))])
      yield* server.sql`DELETE FROM upstream_identities`
    }
    expect(seen).toEqual(attacks.map(([name]) => [name, 401, undefined]))
    // Control: the same response signs in without the attack's change.
    const honest = browserAt(server.url)
    expect((yield* attempt(() => enter(honest, trusted, annAt))).status).toBe(303)
    expect(yield* attempt(() => whoIs(honest))).toBe(ann)
    // svc fetched no key from an address in a token.
    expect(hostile.state.requests).toEqual([])
  }).pipe(Effect.provide(quietPlatform))
)

it.live("svc rejects a provider's response for another browser, sign-in or provider", () =>
  Effect.gen(function* () {
    const trusted = yield* signInProvider("trusted")
    const hostile = yield* signInProvider("hostile")
    const server = yield* attackedServer(settingsFor(trusted))
    yield* server.person("ann")
    const other = yield* attackedServer(settingsFor(hostile))
    const enters = (browser: AttackBrowser, answer: URLSearchParams) =>
      Effect.map(
        attempt(() => arrive(browser, answer)),
        ({ status }) => status
      )
    const begun = (browser: AttackBrowser, provider = trusted) =>
      Effect.map(
        attempt(() => start(browser)),
        (location) => provider.authorize(location, annAt)
      )

    // Login CSRF: tries the attacker's response in a browser without a pending sign-in, and in a browser with a pending sign-in.
    const attacker = browserAt(server.url)
    const victim = browserAt(server.url)
    expect(yield* enters(victim, yield* begun(attacker))).toBe(400)
    const own = yield* begun(victim)
    expect(yield* enters(victim, yield* begun(attacker))).toBe(401)
    // The forged response consumed the victim's sign-in.
    expect(yield* enters(victim, own)).toBe(400)

    // Puts the code of one sign-in into the response of the next sign-in, in the same browser.
    const earlier = yield* begun(victim)
    const later = yield* begun(victim)
    const mixed = new URLSearchParams(later)
    mixed.set("code", earlier.get("code") ?? "")
    expect(yield* enters(victim, mixed)).toBe(401)

    // Replays a complete response, with the cookie of its sign-in restored.
    const once = yield* begun(victim)
    const cookie = victim.jar.get(pendingCookie) ?? ""
    expect(yield* enters(victim, once)).toBe(303)
    const replaying = browserAt(server.url)
    replaying.jar.set(pendingCookie, cookie)
    expect(yield* enters(replaying, once)).toBe(400)

    // Sends one response on several connections at once.
    const raced = yield* begun(victim)
    const racing = victim.jar.get(pendingCookie) ?? ""
    const answers = yield* attempt(() =>
      Promise.all(
        Array.from({ length: 8 }, () => {
          const racer = browserAt(server.url)
          racer.jar.set(pendingCookie, racing)
          return arrive(racer, raced)
        })
      )
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400, 400, 400, 400, 400, 400, 400])

    // Mix-up: sends the code of one provider to the server of another provider, with either issuer.
    for (const issuer of [hostile.issuer, trusted.issuer]) {
      const confused = browserAt(server.url)
      const ownAnswer = yield* begun(confused)
      const foreign = yield* begun(browserAt(other.url), hostile)
      foreign.set("iss", issuer)
      foreign.set("state", ownAnswer.get("state") ?? "")
      expect([issuer, yield* enters(confused, foreign)]).toEqual([issuer, 401])
    }
    // Completes a sign-in that began on another server.
    const abroad = browserAt(other.url)
    const answerAbroad = yield* begun(abroad, hostile)
    const carrier = browserAt(server.url)
    carrier.jar.set(pendingCookie, abroad.jar.get(pendingCookie) ?? "")
    expect(yield* enters(carrier, answerAbroad)).toBe(400)
  }).pipe(Effect.provide(quietPlatform))
)

it.live("an unverified address signs nobody in, regardless of the form of the provider's claim", () =>
  Effect.gen(function* () {
    const trusted = yield* signInProvider("trusted")
    const server = yield* attackedServer(settingsFor(trusted))
    yield* server.person("ann")
    yield* server.person("una", { unproven: true })
    const verifications = [false, undefined, null, "true", "TRUE", 1, "1", [true], { value: true }]
    const addresses = [
      ["ann@example.test"],
      "ann@example.test\u200b",
      "ann@ex\u0430mple.test",
      "ann@example.test,eve@example.test",
      "<ann@example.test>",
      '"ann"@example.test',
      "ann@example.test.",
      "eve+ann@example.test",
      "",
      // Una's account contains the address, but the address is not verified.
      "una@example.test"
    ]
    const lies = [
      ...verifications.map((email_verified) => ({ ...annAt, email_verified })),
      ...addresses.map((email) => ({ ...annAt, email }))
    ]
    const seen: Array<readonly [claims: string, status: number, subject: string | undefined]> = []
    for (const claims of lies) {
      const browser = browserAt(server.url)
      const { status } = yield* attempt(() => enter(browser, trusted, claims))
      seen.push([JSON.stringify(claims), status, yield* attempt(() => whoIs(browser))])
      yield* server.sql`DELETE FROM upstream_identities`
    }
    expect(seen).toEqual(lies.map((claims) => [JSON.stringify(claims), 403, undefined]))
    // UserInfo describes another person or nobody, or contains claims of a wrong type.
    const annInfo = { email: "ann@example.test", email_verified: true }
    for (const wrong of [{ sub: "eve" }, { sub: undefined }, { email_verified: "true" }, { email: [annInfo.email] }]) {
      trusted.state.lie = { userInfo: { ...annInfo, ...wrong } }
      const browser = browserAt(server.url)
      const { status } = yield* attempt(() => enter(browser, trusted, { sub: "somebody" }))
      expect([wrong, status, yield* attempt(() => whoIs(browser))]).toEqual([wrong, 403, undefined])
    }
    expect(yield* server.sql`SELECT subject FROM upstream_identities`).toEqual([])
  }).pipe(Effect.provide(quietPlatform))
)

it.live("an identity is linked only for the session that requested it, and only while the session lasts", () =>
  Effect.gen(function* () {
    const trusted = yield* signInProvider("trusted")
    const server = yield* attackedServer(settingsFor(trusted))
    const ann = yield* server.person("ann")
    const bob = yield* server.person("bob")
    const linked = Effect.map(server.sql`SELECT subject FROM upstream_identities`, (rows) =>
      rows.map(({ subject }) => subject)
    )
    const thiefAt = { sub: "thief-there", email: "thief@example.test", email_verified: true }
    const begin = (browser: AttackBrowser) =>
      Effect.map(
        attempt(() => start(browser, "?link=true")),
        (location) => trusted.authorize(location, thiefAt)
      )
    const arrives = (browser: AttackBrowser, answer: URLSearchParams) =>
      Effect.map(
        attempt(() => arrive(browser, answer)),
        ({ status }) => status
      )
    const ends: ReadonlyArray<readonly [name: string, end: (owner: AttackBrowser) => Promise<AttackAnswer>]> = [
      ["signed out", (owner) => owner.act("/auth/sign-out", {})],
      ["signed out everywhere", (owner) => owner.act("/auth/sign-out-everywhere", {})],
      ["the password changed", (owner) => owner.act("/auth/password", { newPassword: passwordOf("ann") })]
    ]
    for (const [name, end] of ends) {
      const owner = browserAt(server.url)
      yield* attempt(() => signInAs(owner, "ann"))
      const thief = browserAt(server.url)
      thief.jar.set(sessionCookie, owner.jar.get(sessionCookie) ?? "")
      const answer = yield* begin(thief)
      const ended = yield* attempt(() => end(owner))
      expect([name, ended.status, ended.text]).toEqual([name, 204, ""])
      const status = yield* arrives(thief, answer)
      expect([name, status, yield* linked]).toEqual([name, 401, []])
      expect([name, yield* attempt(() => whoIs(thief))]).toEqual([name, undefined])
    }
    // The account is locked while its owner is on the provider's page.
    const locked = browserAt(server.url)
    yield* attempt(() => signInAs(locked, "bob"))
    const whileLocked = yield* begin(locked)
    yield* server.sql`UPDATE users SET status = 'disabled' WHERE subject = ${bob}`
    expect([yield* arrives(locked, whileLocked), yield* linked]).toEqual([401, []])
    yield* server.sql`UPDATE users SET status = 'active' WHERE subject = ${bob}`
    // The browser signs in as another person in the meantime.
    const shared = browserAt(server.url)
    yield* attempt(() => signInAs(shared, "ann"))
    const ofAnn = yield* begin(shared)
    yield* attempt(() => signInAs(shared, "bob"))
    expect([yield* arrives(shared, ofAnn), yield* linked]).toEqual([401, []])
    expect(yield* attempt(() => whoIs(shared))).toBe(bob)

    const owner = browserAt(server.url)
    yield* attempt(() => signInAs(owner, "ann"))
    const own = yield* begin(owner)
    expect([yield* arrives(owner, own), yield* linked]).toEqual([303, [ann]])
    expect(yield* attempt(() => whoIs(owner))).toBe(ann)
    // The identity is already linked to another person.
    const rival = browserAt(server.url)
    yield* attempt(() => signInAs(rival, "bob"))
    const taken = yield* begin(rival)
    expect([yield* arrives(rival, taken), yield* linked]).toEqual([409, [ann]])
    // An identity cannot be linked from another site or without a session.
    const sites = [
      {},
      { "sec-fetch-site": "cross-site" },
      { origin: "https://evil.test" },
      { "sec-fetch-site": "none" }
    ]
    for (const headers of sites) {
      const refused = yield* attempt(() => rival.visit("/auth/upstream/start?link=true", { headers }))
      expect([headers, refused.status]).toEqual([headers, 403])
    }
    const nobody = browserAt(server.url)
    const refused = yield* attempt(() => nobody.visit("/auth/upstream/start?link=true", { headers: fromOwnPage }))
    expect(refused.status).toBe(401)
  }).pipe(Effect.provide(quietPlatform))
)

/** Sends an endless JSON document. */
const flood = (response: ServerResponse, sent: { bytes: number }) => {
  const chunk = "x".repeat(1024 * 1024)
  response.writeHead(200, { "content-type": "application/json" })
  response.write('{"keys":[],"more":"')
  const more = () => {
    while (sent.bytes < 64 * chunk.length && !response.destroyed) {
      sent.bytes += chunk.length
      if (!response.write(chunk)) return void response.once("drain", more)
    }
    response.end('"}')
  }
  more()
}

it.live("svc limits the size of a provider's responses, and never follows its redirects", () =>
  Effect.gen(function* () {
    const trusted = yield* signInProvider("trusted")
    const hostile = yield* signInProvider("hostile")
    const server = yield* attackedServer(settingsFor(trusted))
    yield* server.person("ann")
    // Listed in the order of the server's requests, because the server caches each response.
    const answers: ReadonlyArray<readonly [path: string, status: number, claims: Readonly<Record<string, unknown>>]> = [
      ["/.well-known/openid-configuration", 503, annAt],
      ["/jwks", 401, annAt],
      ["/token", 401, annAt],
      ["/userinfo", 403, { sub: "ann-there" }]
    ]
    for (const [path, status, claims] of answers) {
      for (const kind of ["flood", "redirect"]) {
        const sent = { bytes: 0 }
        trusted.state.lie = {
          answer: (asked, response) => {
            if (asked !== path) return false
            if (kind === "flood") flood(response, sent)
            else response.writeHead(307, { location: `${hostile.issuer}${path}` }).end()
            return true
          }
        }
        const browser = browserAt(server.url)
        const begun = yield* attempt(() => browser.visit("/auth/upstream/start"))
        const done =
          begun.status === 303
            ? yield* attempt(() => arrive(browser, trusted.authorize(begun.location, claims)))
            : begun
        trusted.state.lie = {}
        expect([kind, path, done.status]).toEqual([kind, path, status])
        expect([kind, path, sent.bytes < 16 * 1024 * 1024]).toEqual([kind, path, true])
      }
    }
    expect(hostile.state.requests).toEqual([])
  }).pipe(Effect.provide(quietPlatform))
)
