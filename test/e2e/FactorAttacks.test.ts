import { expect, setDefaultTimeout, spyOn } from "bun:test"
import { Effect, Exit, FileSystem, Scope } from "effect"
import { passwordHashing } from "../../actors/access/account/PasswordHashing.ts"
import { codeOf } from "../../actors/access/account/SecondFactors.ts"
import { it } from "../support/Effect.ts"
import {
  type AttackAnswer,
  type AttackBrowser,
  type AttackedServer,
  attackedServer,
  attempt,
  browserAt,
  codeOf as refusalOf,
  passwordOf,
  quietPlatform,
  signInAs,
  whoIs
} from "./support/AttackedServer.ts"

setDefaultTimeout(60_000)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
const fromBase32 = (text: string): Uint8Array => {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("")
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

const step = () => Math.floor(Date.now() / 30_000)
/** Returns a code that is not valid at any time near the current time. */
const wrongCode = (key: Uint8Array, seed = 0): string => {
  const near = new Set(Array.from({ length: 9 }, (_, index) => codeOf(key, step() - 4 + index)))
  for (let guess = seed; ; guess++) {
    const code = String(guess % 1_000_000).padStart(6, "0")
    if (!near.has(code)) return code
  }
}

/** Turns on the second factor as the account's owner would. */
const protect = async (owner: AttackBrowser) => {
  const begun = await owner.act("/auth/second-factor", {})
  const key = fromBase32(JSON.parse(begun.text).secret)
  const activated = await owner.act("/auth/second-factor/activate", { code: codeOf(key, step()) })
  expect(activated.status).toBe(200)
  const recoveryCodes: ReadonlyArray<string> = JSON.parse(activated.text).recoveryCodes
  return { key, recoveryCodes }
}

const protectedPerson = Effect.fnUntraced(function* (server: AttackedServer, name: string) {
  const subject = yield* server.person(name)
  const owner = browserAt(server.url)
  yield* attempt(() => signInAs(owner, name))
  return { subject, owner, ...(yield* attempt(() => protect(owner))) }
})

/** Clears used codes and failures, as if fifteen minutes had passed. */
const forget = ({ sql }: AttackedServer) =>
  sql`UPDATE totp_factors SET last_step = NULL, failures = 0, failing_since = NULL`

const signIn = (url: string, name: string, code?: string): Promise<AttackAnswer> =>
  browserAt(url).act("/auth/sign-in", {
    email: `${name}@example.test`,
    password: passwordOf(name),
    ...(code === undefined ? {} : { code })
  })

const counted = (answers: ReadonlyArray<AttackAnswer>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

it.live("each second-factor code is accepted once, even if several requests present it at once", () =>
  Effect.gen(function* () {
    const server = yield* attackedServer()
    const { key, owner, recoveryCodes } = yield* protectedPerson(server, "ann")
    const other = yield* protectedPerson(server, "bob")
    const enter = (code?: string) => attempt(() => signIn(server.url, "ann", code))
    const at = step()
    // The server rejects all codes up to the code that activated the factor.
    for (const offset of [0, -1, -2]) expect((yield* enter(codeOf(key, at + offset))).status).toBe(401)
    yield* forget(server)

    const race = (code: string) =>
      attempt(() => Promise.all(Array.from({ length: 8 }, () => signIn(server.url, "ann", code))))
    const byCode = yield* race(codeOf(key, step()))
    expect(counted(byCode)["200"]).toBe(1)
    yield* forget(server)
    const [first = "", second = "", third = ""] = recoveryCodes
    const byRecovery = yield* race(first)
    expect(counted(byRecovery)["200"]).toBe(1)
    yield* forget(server)
    // A sign-in and a confirmation present the same code at once.
    const mixed = yield* attempt(() =>
      Promise.all([
        signIn(server.url, "ann", second),
        owner.act("/auth/confirmation/password", { password: passwordOf("ann"), code: second })
      ])
    )
    expect(mixed.filter(({ status }) => status === 200 || status === 204)).toHaveLength(1)
    yield* forget(server)

    // Tries another person's codes, and strings that are not codes.
    const wrong = [...other.recoveryCodes.slice(0, 2), codeOf(other.key, step()), "", " ", "------", "null", "0", "%"]
    for (const code of wrong) {
      const { status } = yield* enter(code)
      expect([code, status === 401 || status === 400]).toEqual([code, true])
      yield* forget(server)
    }
    // New recovery codes invalidate the old codes. Removing the factor also invalidates them.
    const renewed = yield* attempt(() => owner.act("/auth/second-factor/recovery-codes", {}))
    const fresh: ReadonlyArray<string> = JSON.parse(renewed.text).recoveryCodes
    for (const code of recoveryCodes.slice(2, 6)) expect((yield* enter(code)).status).toBe(401)
    yield* forget(server)
    expect((yield* attempt(() => owner.act("/auth/second-factor", undefined, "DELETE"))).status).toBe(204)
    const again = yield* attempt(() => protect(owner))
    for (const code of [third, ...fresh.slice(0, 3)]) expect((yield* enter(code)).status).toBe(401)
    yield* forget(server)
    expect((yield* enter(codeOf(key, step()))).status).toBe(401)
    yield* forget(server)
    expect((yield* enter(codeOf(again.key, step()))).status).toBe(200)
  }).pipe(Effect.provide(quietPlatform))
)

it.live("guessing second-factor codes stops after five attempts, from any address and after a restart", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const dataDir = `${yield* files.makeTempDirectoryScoped({ prefix: "svc-attacked-" })}/data`
    const life = yield* Scope.make()
    const server = yield* attackedServer({}, dataDir).pipe(Scope.provide(life))
    const { key, owner } = yield* protectedPerson(server, "ann")
    // An attacker who knows the password tries codes from 28 addresses at the same time.
    const guesses = yield* attempt(() =>
      Promise.all(Array.from({ length: 28 }, (_, index) => signIn(server.url, "ann", wrongCode(key, index * 7919))))
    )
    expect(counted(guesses)).toEqual({ 401: 5, 429: 23 })
    const rightCode = () => codeOf(key, step() + 1)
    expect((yield* attempt(() => signIn(server.url, "ann", rightCode()))).status).toBe(429)
    const confirming = { password: passwordOf("ann"), code: rightCode() }
    expect((yield* attempt(() => owner.act("/auth/confirmation/password", confirming))).status).toBe(429)
    yield* Scope.close(life, Exit.void)
    const restarted = yield* attackedServer({}, dataDir)
    const ownerAgain = browserAt(restarted.url)
    for (const [name, value] of owner.jar) ownerAgain.jar.set(name, value)
    const later = yield* attempt(() => signIn(restarted.url, "ann", rightCode()))
    expect([later.status, Number(later.headers.get("retry-after")) > 600]).toEqual([429, true])
    // Wrong codes on all routes count towards the same limit.
    yield* restarted.sql`UPDATE totp_factors SET failures = 0, failing_since = NULL`
    const seen: Array<number> = []
    for (let index = 0; index < 4; index++) {
      const code = wrongCode(key, 31 * index)
      seen.push((yield* attempt(() => signIn(restarted.url, "ann", code))).status)
      const body = { password: passwordOf("ann"), code }
      seen.push((yield* attempt(() => ownerAgain.act("/auth/confirmation/password", body))).status)
    }
    expect(seen).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  }).pipe(Effect.provide(quietPlatform))
)

it.live("no other route bypasses the second factor", () =>
  Effect.gen(function* () {
    const server = yield* attackedServer()
    const { owner, subject } = yield* protectedPerson(server, "ann")
    const email = "ann@example.test"
    const password = passwordOf("ann")
    const page = { origin: "https://svc.example.test", "sec-fetch-site": "same-origin" }
    const attacks: ReadonlyArray<readonly [name: string, attack: (browser: AttackBrowser) => Promise<AttackAnswer>]> = [
      ["sign-in without a code", (browser) => browser.act("/auth/sign-in", { email, password })],
      ["sign-in with no code in it", (browser) => browser.act("/auth/sign-in", { email, password, code: "" })],
      ["sign-in with a code of nothing", (browser) => browser.act("/auth/sign-in", { email, password, code: null })],
      [
        "another spelling of the address",
        (browser) => browser.act("/auth/sign-in", { email: " ANN@Example.Test", password })
      ],
      [
        "the plain form",
        async (browser) => {
          const response = await fetch(new URL("/sign-in", server.url), {
            method: "POST",
            redirect: "manual",
            headers: {
              ...page,
              "content-type": "application/x-www-form-urlencoded",
              "x-forwarded-for": browser.address
            },
            body: new URLSearchParams({ email, password }).toString()
          })
          return { status: response.status, headers: response.headers, location: "", text: await response.text() }
        }
      ],
      ["a token", (browser) => browser.act("/api/v1/account/tokens", { name: "t", scopes: ["read"], password })],
      [
        "basic credentials",
        (browser) =>
          browser.visit("/auth/session", { headers: { authorization: `Basic ${btoa(`${email}:${password}`)}` } })
      ],
      ["a device code", (browser) => browser.act("/oauth/device", { user_code: "AAAA-AAAA" })],
      [
        "a grant by password",
        async (browser) => {
          const response = await fetch(new URL("/oauth/token", server.url), {
            method: "POST",
            headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": browser.address },
            body: new URLSearchParams({
              grant_type: "password",
              username: email,
              password,
              client_id: "svc"
            }).toString()
          })
          return { status: response.status, headers: response.headers, location: "", text: await response.text() }
        }
      ]
    ]
    for (const [name, attack] of attacks) {
      const browser = browserAt(server.url)
      const { status } = yield* attempt(() => attack(browser))
      expect([name, status >= 400 && status < 500]).toEqual([name, true])
      expect([name, yield* attempt(() => whoIs(browser))]).toEqual([name, undefined])
    }
    // A password alone cannot confirm a session.
    yield* server.sql`UPDATE account_sessions SET confirmed_at = NULL WHERE subject = ${subject}`
    const half = yield* attempt(() => owner.act("/auth/confirmation/password", { password }))
    expect([half.status, refusalOf(half)]).toEqual([401, "second_factor_required"])
    for (const [path, method] of [
      ["/auth/second-factor", "DELETE"],
      ["/auth/second-factor", "POST"],
      ["/auth/second-factor/recovery-codes", "POST"],
      ["/auth/passkeys/registration-options", "POST"],
      ["/auth/password", "POST"]
    ] as const) {
      const body =
        method === "POST" ? (path === "/auth/password" ? { newPassword: "another good password" } : {}) : undefined
      const refused = yield* attempt(() => owner.act(path, body, method))
      expect([path, method, refused.status, refusalOf(refused)]).toEqual([
        path,
        method,
        403,
        "reauthentication_required"
      ])
    }
  }).pipe(Effect.provide(quietPlatform))
)

it.live(
  "every failed sign-in gets the same response, and the limit on password guesses for an account covers all connections",
  () =>
    Effect.gen(function* () {
      const server = yield* attackedServer()
      yield* protectedPerson(server, "ann")
      yield* server.person("plain")
      const gone = yield* server.person("gone")
      yield* server.sql`UPDATE users SET status = 'disabled' WHERE subject = ${gone}`
      const bare = yield* server.person("bare")
      yield* server.sql`DELETE FROM user_passwords WHERE subject = ${bare}`
      const guess = (name: string, more: Readonly<Record<string, string>> = {}) =>
        attempt(() =>
          browserAt(server.url).act("/auth/sign-in", {
            email: `${name}@example.test`,
            password: "a wrong guess",
            ...more
          })
        )
      const shape = ({ headers, status, text }: AttackAnswer) => ({
        status,
        text: text.replace(/req_\w+/, "req"),
        headers: [...headers.keys()].filter((name) => name !== "date").toSorted()
      })
      // A test cannot compare response times reliably, so it counts the password hashes, which dominate the times, and
      // compares their costs.
      const hashes = yield* Effect.acquireRelease(
        Effect.sync(() => spyOn(passwordHashing, "verify")),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const hashed = <A, E, R>(use: Effect.Effect<A, E, R>) =>
        Effect.suspend(() => {
          hashes.mockClear()
          return Effect.map(use, (answer) => ({
            answer,
            costs: hashes.mock.calls.map(([, hash]) => hash.split("$").slice(0, 4).join("$"))
          }))
        })
      const form = (name: string) =>
        attempt(() =>
          browserAt(server.url).form("/sign-in", { email: `${name}@example.test`, password: "a wrong guess" })
        )
      const unknown = shape(yield* guess("nobody"))
      expect(unknown.status).toBe(401)
      const work = yield* hashed(guess("nobody-either"))
      expect([shape(work.answer), work.costs.length]).toEqual([unknown, 1])
      const page = yield* hashed(form("nobody"))
      expect([page.answer.status, page.costs]).toEqual([401, work.costs])
      for (const name of ["ann", "plain", "gone", "bare"]) {
        for (const more of [{}, { code: "123456" }]) {
          const { answer, costs } = yield* hashed(guess(name, more))
          expect([name, shape(answer), costs]).toEqual([name, unknown, work.costs])
        }
        const { answer, costs } = yield* hashed(form(name))
        expect([name, shape(answer), costs]).toEqual([name, shape(page.answer), work.costs])
      }
      // The right password of a locked account gets the same response as a wrong password.
      const locked = yield* attempt(() => signIn(server.url, "gone"))
      expect(shape(locked)).toEqual(unknown)

      // Guesses the password of one account from one address, over forty connections at once. The limit allows ten guesses
      // per minute.
      for (const name of ["plain", "nobody-else"]) {
        const browser = browserAt(server.url)
        const answers = yield* attempt(() =>
          Promise.all(
            Array.from({ length: 40 }, (_, index) =>
              browser.act("/auth/sign-in", {
                email: [`${name}@example.test`, ` ${name}@EXAMPLE.test`][index % 2],
                password: `guess ${index} of many`
              })
            )
          )
        )
        expect([name, counted(answers)]).toEqual([name, { 401: 10, 429: 30 }])
      }
    }).pipe(Effect.provide(quietPlatform))
)
