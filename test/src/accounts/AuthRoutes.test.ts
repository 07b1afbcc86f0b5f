import { expect } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { newPerson, newWorkspace } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, fromPage, openSession, setupSecret } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layer))
const password = "a long enough password"
const cookieOf = (headers: Headers) =>
  Redacted.make(/^(?:__Host-)?svc_session=([^;]*)/.exec(headers.get("set-cookie") ?? "")?.[1] ?? "")

const setUp = Effect.gen(function* () {
  const secret = yield* setupSecret
  return yield* call("/auth/setup", { body: { secret, email: "admin@example.com", password, displayName: "Admin" } })
})

it.effect("setup creates the first account, sets the cookie, and reveals no secret", () =>
  Effect.gen(function* () {
    const answer = yield* setUp
    expect(answer.status).toBe(201)
    expect(answer.headers.get("set-cookie")).toMatch(
      /^svc_session=svcs_[0-9A-Za-z]{36}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax, svc_device=/
    )
    expect(answer.raw).not.toContain("svcs_")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    const session = yield* call("/auth/session", { headers: fromPage(cookieOf(answer.headers)) })
    expect(session).toMatchObject({
      status: 200,
      json: { user: { email: "admin@example.com", displayName: "Admin", isOperator: true } }
    })
  }).pipe(fresh)
)

it.effect("over https the session cookie is bound to the host", () =>
  Effect.gen(function* () {
    const answer = yield* setUp
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Host-svc_session=svcs_[0-9A-Za-z]{36}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax, __Host-svc_device=/
    )
    expect(answer.headers.get("strict-transport-security")).toBe("max-age=31536000")
    const cookie = Redacted.value(cookieOf(answer.headers))
    const good = yield* call("/auth/session", { headers: { cookie: `__Host-svc_session=${cookie}` } })
    // A sibling subdomain can set a cookie with the plain name, but never with the __Host- name.
    const tossed = yield* call("/auth/session", { headers: { cookie: `svc_session=${cookie}` } })
    expect([good.status, tossed.status]).toEqual([200, 401])
  }).pipe(Effect.provide(Layer.fresh(AccountServer.layerAt("https://svc.example.com"))))
)

it.effect("an invalid setup secret returns 404, and an invalid body returns 400 without quoting it", () =>
  Effect.gen(function* () {
    const secret = yield* setupSecret
    const body = { secret, email: "admin@example.com", password }
    const unknown = yield* call("/auth/setup", { body: { ...body, secret: `${secret}x` } })
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: "not_found" } } })
    const wrongs = [{ ...body, extra: 1 }, { secret }, { ...body, password: 7 }, [], "{", { ...body, secret: "" }]
    for (const [n, wrong] of wrongs.entries()) {
      const answer = yield* call("/auth/setup", {
        body: wrong,
        address: `192.0.2.${n + 5}`
      })
      expect(answer).toMatchObject({ status: 400, json: { error: { code: "invalid_request" } } })
      expect(answer.raw).not.toContain(password)
      expect(answer.raw).not.toContain(secret)
    }
    expect((yield* call("/auth/setup", { body })).status).toBe(201)
    expect((yield* call("/auth/setup", { body })).status).toBe(404)
  }).pipe(fresh)
)

it.effect("sign-in opens a new session and ends the browser's previous session", () =>
  Effect.gen(function* () {
    const first = cookieOf((yield* setUp).headers)
    const again = yield* call("/auth/sign-in", {
      body: { email: "admin@example.com", password },
      headers: fromPage(first)
    })
    expect(again.status).toBe(200)
    const second = cookieOf(again.headers)
    expect(Redacted.value(second)).not.toBe(Redacted.value(first))
    expect((yield* call("/auth/session", { headers: fromPage(first) })).status).toBe(401)
    expect((yield* call("/auth/session", { headers: fromPage(second) })).status).toBe(200)
    // A cookie planted before the sign-in never becomes the session.
    const planted = yield* call("/auth/sign-in", {
      body: { email: "admin@example.com", password },
      headers: { cookie: "svc_session=planted" }
    })
    expect(Redacted.value(cookieOf(planted.headers))).toStartWith("svcs_")
  }).pipe(fresh)
)

it.effect("sign-in returns the same response for unknown and known accounts", () =>
  Effect.gen(function* () {
    yield* setUp
    const strip = (raw: string) => raw.replace(/req_\w+/, "")
    const known = yield* call("/auth/sign-in", { body: { email: "admin@example.com", password: "wrong password" } })
    const unknown = yield* call("/auth/sign-in", { body: { email: "nobody@example.com", password: "wrong password" } })
    expect(known.status).toBe(401)
    expect(strip(unknown.raw)).toBe(strip(known.raw))
    for (const odd of ["x".repeat(300), "nul \u0000 inside it"]) {
      expect(
        (yield* call("/auth/sign-in", { body: { email: "admin@example.com", password: odd }, address: "192.0.2.9" }))
          .status
      ).toBe(401)
    }
  }).pipe(fresh)
)

it.effect("a session cookie lasts 30 days and is renewed with the session, at most once an hour", () =>
  Effect.gen(function* () {
    const cookie = cookieOf((yield* setUp).headers)
    const read = Effect.map(call("/auth/session", { headers: fromPage(cookie) }), ({ headers, status }) => ({
      status,
      renewed: headers.get("set-cookie")
    }))
    expect(yield* read).toEqual({ status: 200, renewed: null })
    // Three periods of 16 days exceed the 30-day lifetime, so the session survives only because each request extends it.
    for (let n = 0; n < 3; n++) {
      yield* TestClock.adjust("16 days")
      const { renewed, status } = yield* read
      expect(status).toBe(200)
      expect(renewed).toBe(`svc_session=${Redacted.value(cookie)}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax`)
      // The renewal is stored in the background. The next renewal happens after an hour at the earliest.
      while ((yield* read).renewed !== null) yield* Effect.yieldNow
    }
    // Every API route renews the cookie too, unless the session is sent in a header.
    yield* TestClock.adjust("2 hours")
    const inHeader = yield* call("/api/v1/workspaces", { headers: { "x-svc-account-session": Redacted.value(cookie) } })
    expect([inHeader.status, inHeader.headers.get("set-cookie")]).toEqual([200, null])
    yield* TestClock.adjust("2 hours")
    const api = yield* call("/api/v1/workspaces", { headers: fromPage(cookie) })
    expect(api.headers.get("set-cookie")).toContain("Max-Age=2592000")
    // Signing out removes the cookie, even when this request renewed the session.
    yield* TestClock.adjust("2 hours")
    const out = yield* call("/auth/sign-out", { method: "POST", headers: fromPage(cookie) })
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0")
    expect(yield* read).toEqual({ status: 401, renewed: null })
  }).pipe(fresh)
)

it.effect("guessing passwords from many networks locks nobody out, in known or new browsers", () =>
  Effect.gen(function* () {
    const first = yield* setUp
    const device = /svc_device=([^;]+)/.exec(first.headers.get("set-cookie") ?? "")?.[1] ?? ""
    const email = "admin@example.com"
    const attempt = (address: string, given: string, cookie?: string) =>
      call("/auth/sign-in", {
        body: { email, password: given },
        address,
        headers: cookie === undefined ? {} : { cookie: `svc_device=${cookie}` }
      })
    for (let n = 0; n < 10; n++) expect((yield* attempt("198.51.100.1", "a wrong guess")).status).toBe(401)
    const limited = yield* attempt("198.51.100.1", password)
    expect(limited).toMatchObject({ status: 429, json: { error: { code: "rate_limited" } } })
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0)
    // svc limits neither the person's own browser on the attacker's network nor a new browser on another network.
    expect((yield* attempt("198.51.100.1", password, device)).status).toBe(200)
    expect((yield* attempt("203.0.113.9", password)).status).toBe(200)
    // A forged cookie, or a cookie that belongs to another person, has no effect.
    const forged = `${device.slice(0, 40)}${device.slice(40).replaceAll(/[A-Za-z]/g, "x")}`
    expect((yield* attempt("198.51.100.1", password, forged)).status).toBe(429)
    // Sign-in attempts from known browsers are limited too.
    const statuses: Array<number> = []
    for (let n = 0; n < 20; n++) statuses.push((yield* attempt("203.0.113.10", "a wrong guess", device)).status)
    expect([statuses.slice(0, 19), statuses.at(-1)]).toEqual([Array.from({ length: 19 }, () => 401), 429])
  }).pipe(fresh)
)

it.effect("another site cannot sign anyone in or out, or use the session cookie", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    const { secret, session } = yield* openSession(subject)
    const cookie = { cookie: fromPage(secret).cookie }
    const hostile: ReadonlyArray<Record<string, string>> = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none", origin: "https://evil.example" },
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "http://127.0.0.1:8787.evil.example" },
      { origin: "https://127.0.0.1:8787" },
      { "sec-fetch-site": "same-origin", origin: "https://evil.example" }
    ]
    for (const headers of hostile) {
      for (const path of [
        "/auth/sign-in",
        "/auth/setup",
        "/auth/sign-out",
        `/auth/sessions/${session.id}/revoke`,
        "/auth/password"
      ]) {
        const answer = yield* call(path, { body: {}, headers: { ...cookie, ...headers } })
        expect(answer).toMatchObject({ status: 403, json: { error: { code: "csrf_failed" } } })
        expect(answer.headers.get("set-cookie")).toBeNull()
      }
    }
    // Signing in needs no site header, but a request with a session cookie does.
    expect((yield* call("/auth/sign-out", { body: {}, headers: cookie })).status).toBe(403)
    expect((yield* call("/auth/session", { headers: cookie })).status).toBe(200)
  }).pipe(fresh)
)

it.effect("sign-in rejects form content types, so an HTML form cannot pose as a JSON request", () =>
  Effect.gen(function* () {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const answer = yield* call("/auth/sign-in", {
        body: { email: "a@example.com", password: "x" },
        headers: { "content-type": type }
      })
      expect(answer).toMatchObject({ status: 415, json: { error: { code: "unsupported_media_type" } } })
    }
  }).pipe(fresh)
)

it.effect("sign-out ends the session and clears the cookie, even if the cookie was invalid", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    const sessions = yield* Sessions
    const { secret } = yield* openSession(subject)
    for (let round = 0; round < 2; round++) {
      const answer = yield* call("/auth/sign-out", { body: {}, headers: fromPage(secret) })
      expect(answer.status).toBe(204)
      expect(answer.headers.get("set-cookie")).toMatch(
        /^svc_session=; Max-Age=0; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/
      )
    }
    expect((yield* Effect.flip(sessions.authenticate(secret))).code).toBe("unauthenticated")
  }).pipe(fresh)
)

it.effect("signing out everywhere ends all of that person's sessions and no others", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const here = yield* openSession(ann.subject)
    const there = yield* openSession(ann.subject)
    const other = yield* openSession(bob.subject)
    const answer = yield* call("/auth/sign-out-everywhere", { body: {}, headers: fromPage(here.secret) })
    expect(answer.status).toBe(204)
    expect(answer.headers.get("set-cookie")).toStartWith("svc_session=; Max-Age=0")
    for (const { secret } of [here, there]) {
      expect((yield* Effect.flip(sessions.authenticate(secret))).code).toBe("unauthenticated")
    }
    expect((yield* sessions.authenticate(other.secret)).subject).toBe(bob.subject)
  }).pipe(fresh)
)

it.effect("a session confined to one Workspace cannot change the account", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    const { id } = yield* newWorkspace(subject, { handle: "acme" })
    const confined = yield* openSession(subject, id)
    for (const path of [
      "/auth/sign-out-everywhere",
      "/auth/password",
      "/auth/passkeys",
      "/auth/passkeys/registration-options",
      `/auth/sessions/${confined.session.id}/revoke`
    ]) {
      const answer = yield* call(path, { body: {}, headers: fromPage(confined.secret) })
      expect(answer).toMatchObject({ status: 403, json: { error: { code: "permission_denied" } } })
    }
  }).pipe(fresh)
)

it.effect("the history shows who signed in, by which method, and when a session was revoked", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson("ann")
    const { secret, session } = yield* openSession(subject)
    yield* call(`/auth/sessions/${session.id}/revoke`, { body: {}, headers: fromPage(secret) })
    const events = yield* sql<{ action: string; data: string; request_id: string | null }>`
      SELECT action, data, request_id FROM audit_events
      WHERE actor_subject = ${subject} AND target_id = ${session.id} ORDER BY rowid`
    expect(events).toEqual([
      { action: "session.open", data: '{"method":"password"}', request_id: null },
      { action: "session.revoke", data: "{}", request_id: expect.stringMatching(/^req_/) }
    ])
  }).pipe(fresh)
)

it.effect("people can list their sessions and revoke each of them", () =>
  Effect.gen(function* () {
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const here = yield* openSession(ann.subject)
    const there = yield* openSession(ann.subject)
    const foreign = yield* openSession(bob.subject)
    const list = yield* call("/auth/sessions", { headers: fromPage(here.secret) })
    expect(list.json).toMatchObject({
      sessions: expect.arrayContaining([
        expect.objectContaining({ id: here.session.id, current: true }),
        expect.objectContaining({ id: there.session.id, current: false })
      ])
    })
    expect(list.raw).not.toContain(foreign.session.id)
    const revoke = (id: string) => call(`/auth/sessions/${id}/revoke`, { body: {}, headers: fromPage(here.secret) })
    expect((yield* revoke(foreign.session.id)).status).toBe(404)
    expect((yield* revoke(there.session.id)).status).toBe(204)
    expect((yield* call("/auth/session", { headers: fromPage(there.secret) })).status).toBe(401)
    expect((yield* call("/auth/session", { headers: fromPage(foreign.secret) })).status).toBe(200)
    expect((yield* revoke(here.session.id)).headers.get("set-cookie")).toContain("Max-Age=0")
  }).pipe(fresh)
)

it.effect("changing the password revokes every session except the new one", () =>
  Effect.gen(function* () {
    const before = cookieOf((yield* setUp).headers)
    const change = (newPassword: string) => call("/auth/password", { body: { newPassword }, headers: fromPage(before) })
    expect((yield* change("short")).status).toBe(400)
    const changed = yield* change("another good password")
    expect(changed.status).toBe(204)
    expect((yield* call("/auth/session", { headers: fromPage(before) })).status).toBe(401)
    expect((yield* call("/auth/session", { headers: fromPage(cookieOf(changed.headers)) })).status).toBe(200)
    const old = yield* call("/auth/sign-in", { body: { email: "admin@example.com", password } })
    expect(old.status).toBe(401)
  }).pipe(fresh)
)

it.effect("a request with two credentials, or with a malformed credential, authenticates nobody", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    const { secret } = yield* openSession(subject)
    const { cookie } = fromPage(secret)
    const value = Redacted.value(secret)
    const wrong: ReadonlyArray<Record<string, string>> = [
      { cookie: `${cookie}; ${cookie}` },
      { cookie, "x-svc-account-session": value },
      { cookie: `svc_session="${value}"` },
      { cookie: `svc_session=${value}x` },
      { authorization: `Bearer ${value}` }
    ]
    for (const headers of wrong) expect((yield* call("/auth/session", { headers })).status).toBe(401)
    expect((yield* call("/auth/session", { headers: { "x-svc-account-session": value } })).status).toBe(200)
  }).pipe(fresh)
)
