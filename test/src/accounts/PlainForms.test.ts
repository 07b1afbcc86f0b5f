import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { it } from "../../support/Effect.ts"
import { AccountServer, setupSecret } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layer))
const origin = "http://127.0.0.1:8787"
const password = " a long enough password "
const email = "admin@example.com"

let caller = 0
/** Submits the form as a browser without JavaScript would. */
const submit = Effect.fnUntraced(function* (
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {}
) {
  const server = yield* AccountServer
  const request = new Request(`${origin}${path}`, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin", origin, ...headers },
    body: new URLSearchParams(fields)
  })
  const response = yield* server.handle(request, `203.0.113.${++caller % 250}`)
  return {
    status: response.status,
    location: response.headers.get("location"),
    refresh: response.headers.get("refresh"),
    cookie: response.headers.get("set-cookie"),
    type: response.headers.get("content-type"),
    text: yield* Effect.promise(() => response.text())
  }
})

const setUp = Effect.gen(function* () {
  return yield* submit("/setup", { secret: ` ${yield* setupSecret} `, email, password, displayName: "" })
})

it.effect("a plain form with a setup link and a password opens an account and a session", () =>
  Effect.gen(function* () {
    const made = yield* setUp
    expect(made).toMatchObject({ status: 303, location: `${origin}/` })
    expect(made.cookie).toStartWith("svc_session=svcs_")
    const back = { referer: `${origin}/sign-in?return=${encodeURIComponent("/oauth/device?user_code=ABCD")}` }
    const entered = yield* submit("/sign-in", { email, password }, back)
    // The issuer may redirect to another site. Browsers may block that redirect after a form submission, so svc responds
    // with a page that refreshes to the issuer.
    expect(entered).toMatchObject({ status: 200, location: null, refresh: "0; url=/oauth/device?user_code=ABCD" })
    expect(entered.text).toContain(`href="/oauth/device?user_code=ABCD">`)
    expect(entered.cookie).toStartWith("svc_session=svcs_")
    const home = yield* submit("/sign-in", { email, password }, { referer: `${origin}/sign-in?return=%2Faccount` })
    expect(home).toMatchObject({ status: 303, location: `${origin}/account`, refresh: null })
  }).pipe(fresh)
)

it.effect("a refused plain form shows a page, creates no session, and does not echo the input", () =>
  Effect.gen(function* () {
    yield* setUp
    const refused = [
      [401, yield* submit("/sign-in", { email, password: "a wrong password" })],
      // Spaces in a password are never trimmed.
      [401, yield* submit("/sign-in", { email, password: password.trim() })],
      [400, yield* submit("/sign-in", { email })],
      [400, yield* submit("/setup", { password, email })],
      [404, yield* submit("/setup", { secret: "svct_made-up-canary", password, email })]
    ] as const
    for (const [status, answer] of refused) {
      expect(answer).toMatchObject({ status, location: null, cookie: null, type: "text/html; charset=utf-8" })
      expect(answer.text).toContain("/sign-in")
      for (const typed of [password.trim(), "a wrong password", "canary"]) expect(answer.text).not.toContain(typed)
    }
  }).pipe(fresh)
)

it.effect("another site can neither sign anyone in through a plain form nor choose the redirect", () =>
  Effect.gen(function* () {
    yield* setUp
    for (const headers of [
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
      { "sec-fetch-site": "same-site", origin: "https://evil.example" },
      { "content-type": "text/plain" }
    ]) {
      const answer = yield* submit("/sign-in", { email, password }, headers)
      expect([answer.status >= 400, answer.cookie]).toEqual([true, null])
    }
    for (const referer of [
      "https://evil.example/sign-in?return=/account",
      `${origin}/sign-in?return=${encodeURIComponent("https://evil.example/")}`,
      `${origin}/sign-in?return=${encodeURIComponent("//evil.example/")}`,
      "not an address"
    ])
      expect((yield* submit("/sign-in", { email, password }, { referer })).location).toBe(`${origin}/`)
  }).pipe(fresh)
)
