import { afterAll, beforeAll, describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { startBrowser, type TestBrowser } from "./support/Browser.ts"
import { suite } from "../support/Effect.ts"
import { BrokeredApplication, brokeredClients } from "../src/accounts/oidc/support/BrokeredApplication.ts"
import { authorization, query } from "../src/accounts/oidc/support/Browser.ts"
import { TestIssuer } from "../src/accounts/oidc/support/IssuerFixture.ts"
import { servedIssuerOf } from "../src/accounts/oidc/support/ServedIssuer.ts"
import { someone } from "../src/accounts/oidc/support/Someone.ts"

const tests = suite(
  Layer.unwrap(
    Effect.map(BrokeredApplication, (application) => servedIssuerOf(() => brokeredClients(application)))
  ).pipe(Layer.provideMerge(BrokeredApplication.layer))
)
let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await tests.dispose()
})

const promised = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Opens a signed-in person's browser, with or without JavaScript. */
const visitor = Effect.fnUntraced(function* (scripts: boolean) {
  const { issuer } = yield* TestIssuer
  const { cookie } = yield* someone
  const { faults, page: first } = yield* promised(() => browser.open({ language: "en", theme: "light" }))
  yield* Effect.addFinalizer(() => promised(() => first.context().close()))
  const context = yield* promised(async () => {
    const opened = await first.context().browser()?.newContext({ javaScriptEnabled: false, locale: "en-GB" })
    return scripts || opened === undefined ? first.context() : opened
  })
  yield* Effect.addFinalizer(() => promised(() => context.close()))
  const [name = "", value = ""] = cookie.split("=")
  yield* promised(() => context.addCookies([{ name, value, url: issuer }]))
  const page = scripts ? first : yield* promised(() => context.newPage())
  const press = (button: string) => promised(() => page.getByRole("button", { name: button, exact: true }).click())
  const open = (path: string) => promised(() => page.goto(`${issuer}${path}`))
  return { faults, open, page, press }
})

const asked = Effect.map(
  BrokeredApplication,
  ({ callback }) => `/oauth/authorize?${query(authorization({ client_id: "brokered", redirect_uri: callback }))}`
)

describe.each([
  ["with scripts", true],
  ["without scripts", false]
] as const)("Application behind a broker, %s", (_name, scripts) => {
  tests.live(
    "an application gets its response after either decision on the consent page",
    () =>
      Effect.gen(function* () {
        const application = yield* BrokeredApplication
        const { faults, open, page, press } = yield* visitor(scripts)
        yield* open(yield* asked)
        yield* press("Cancel")
        yield* promised(() => page.waitForURL(`${application.home}/cb?error=access_denied&*`))
        // Going back returns to the consent page instead of sending the response again.
        yield* promised(() => page.goBack())
        expect(page.url()).toContain("/oauth/authorize?")
        yield* press("Allow")
        yield* promised(() => page.waitForURL(`${application.home}/cb?code=*`))
        expect(application.referrers).toEqual([])
        expect(faults).toEqual([])
      }),
    60_000
  )

  tests.live(
    "people return to the application after signing out",
    () =>
      Effect.gen(function* () {
        const application = yield* BrokeredApplication
        const { faults, open, page, press } = yield* visitor(scripts)
        const leaving = { client_id: "brokered", post_logout_redirect_uri: application.signedOut, state: "s1" }
        yield* open(`/oauth/logout?${query(leaving)}`)
        yield* press("Sign out")
        yield* promised(() => page.waitForURL(`${application.home}/bye?state=s1`))
        expect(application.referrers).toEqual([])
        expect(faults).toEqual([])
      }),
    60_000
  )
})
