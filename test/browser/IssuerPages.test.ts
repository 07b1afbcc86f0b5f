import { afterAll, beforeAll, expect } from "bun:test"
import { AxeBuilder } from "@axe-core/playwright"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { startBrowser, type TestBrowser } from "./support/Browser.ts"
import { suite } from "../support/Effect.ts"
import { someone } from "../src/accounts/oidc/support/Someone.ts"
import { authorization, json, post, query, tokensOf } from "../src/accounts/oidc/support/Browser.ts"
import { TestIssuer } from "../src/accounts/oidc/support/IssuerFixture.ts"
import { servedIssuer } from "../src/accounts/oidc/support/ServedIssuer.ts"

const tests = suite(servedIssuer)
let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await tests.dispose()
})

const promised = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Opens a browser page that is signed in with this cookie and in which the client's address responds. */
const openAs = Effect.fnUntraced(function* (
  cookie: string,
  look: { readonly language: "en" | "ja"; readonly theme: "light" | "dark" }
) {
  const { issuer } = yield* TestIssuer
  const { faults, page } = yield* promised(() => browser.open({ ...look, width: 400, height: 800 }))
  yield* Effect.addFinalizer(() => promised(() => page.context().close()))
  const [name = "", value = ""] = cookie.split("=")
  yield* promised(() => page.context().addCookies([{ name, value, url: issuer }]))
  yield* promised(() => page.route("https://rp.example.com/**", (route) => route.fulfill({ body: "arrived" })))
  return { faults, issuer, page }
})

const violations = (page: Page) =>
  Effect.map(
    promised(() => new AxeBuilder({ page }).setLegacyMode(true).analyze()),
    (found) => found.violations.map(({ id }) => id)
  )

tests.live("after a person consents, the browser arrives at the application", () =>
  Effect.gen(function* () {
    const { cookie } = yield* someone
    const { faults, issuer, page } = yield* openAs(cookie, { language: "en", theme: "light" })
    yield* promised(() => page.goto(`${issuer}/oauth/authorize?${query(authorization({ scope: "openid email" }))}`))
    expect(yield* violations(page)).toEqual([])
    yield* promised(() => page.getByRole("button", { name: "Allow" }).click())
    yield* promised(() => page.waitForURL("https://rp.example.com/cb?code=*"))
    expect(faults).toEqual([])
  })
)

tests.live("a person connects a device, in Japanese and in dark mode, and signs out", () =>
  Effect.gen(function* () {
    const { cookie } = yield* someone
    const started = yield* Effect.flatMap(
      post("/oauth/device_authorization", { client_id: "svc-cli", scope: "openid" }),
      json
    )
    const { faults, issuer, page } = yield* openAs(cookie, { language: "ja", theme: "dark" })
    yield* promised(() => page.goto(String(started["verification_uri_complete"])))
    expect(yield* violations(page)).toEqual([])
    yield* promised(() => page.getByRole("button", { name: "次へ" }).click())
    expect(yield* violations(page)).toEqual([])
    yield* promised(() => page.getByRole("button", { name: "許可する" }).click())
    yield* promised(() => page.getByText("デバイスを接続しました").waitFor())
    const tokens = yield* post("/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: String(started["device_code"]),
      client_id: "svc-cli"
    })
    yield* tokensOf(tokens)

    yield* promised(() => page.goto(`${issuer}/oauth/logout`))
    expect(yield* violations(page)).toEqual([])
    yield* promised(() => page.getByRole("button", { name: "サインアウトする" }).click())
    yield* promised(() => page.getByText("サインアウトしました").waitFor())
    const cookies = yield* promised(() => page.context().cookies(issuer))
    expect(cookies.map(({ name }) => name)).not.toContain("svc_session")
    expect(faults).toEqual([])
  })
)
