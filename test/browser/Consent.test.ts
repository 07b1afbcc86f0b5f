import { describe, expect } from "bun:test"
import { createHash } from "node:crypto"
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, FileSystem, Schema } from "effect"
import type { Page } from "playwright-core"
import { pageWords } from "../../src/accounts/oidc/PageWords.ts"
import { it } from "../support/Effect.ts"
import { type Look, startBrowser, type TestBrowser } from "./support/Browser.ts"
import { password } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { barriers, darkJapanese, lightEnglish } from "./support/Suite.ts"

const fire = "__canary=1"
/** Crafted names for a client and a person. A bidi override reverses the text around it. */
const clientName = `</p><img src=x onerror=${fire}><script>${fire}</script>\u202e"`
// An email address cannot contain angle brackets, but it can contain the characters that end an attribute.
const email = `'/onload=${fire}&b'@acme.example`
const callback = "https://rp.example.com/cb"
const verifier = "a-code-verifier-that-is-long-enough-to-be-one-0123456789"
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

const clients = {
  clients: [
    {
      client_id: "careful",
      client_name: clientName,
      redirect_uris: [callback],
      grant_types: ["authorization_code", deviceGrant],
      scope: "openid email"
    }
  ]
}

/** Starts the compiled server with that client, and returns the secret from its setup link. */
const issuer = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "dashboard-clients-" })
  const file = `${folder}/clients.json`
  yield* files.writeFileString(file, JSON.stringify(clients))
  const { network, setupLink } = yield* realServer("http://127.0.0.1:9", [`--oidc-clients-file=${file}`])
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const send = (path: string, body: Readonly<Record<string, string>>) =>
    Effect.promise(() => fetch(`${network.origin}${path}`, { method: "POST", body: new URLSearchParams(body) }))
  return { browser, origin: network.origin, send, secret: setupLink.split("#")[1] ?? "" }
}).pipe(Effect.provide(NodeFileSystem.layer))

/** Starts the compiled server with that client, and creates the first account. */
const issuerWithAccount = Effect.gen(function* () {
  const { secret, ...parts } = yield* issuer
  const made = yield* Effect.promise(() =>
    fetch(`${parts.origin}/auth/setup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ secret, email, password })
    })
  )
  expect(made.status).toBe(201)
  return parts
})

const authorization = (origin: string) =>
  `${origin}/oauth/authorize?${new URLSearchParams({
    client_id: "careful",
    redirect_uri: callback,
    response_type: "code",
    scope: "openid email",
    state: "the-state",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256"
  }).toString()}`

/** The signed-in person's browser, which also resolves the client's own address. */
const visitor = Effect.fnUntraced(function* (browser: TestBrowser, origin: string, look: Look) {
  const opened = yield* Effect.promise(() => browser.open({ ...look, width: 400, height: 800 }))
  const { page } = opened
  yield* Effect.addFinalizer(() => Effect.promise(() => page.context().close()))
  yield* Effect.promise(() => page.route(`${callback}*`, (route) => route.fulfill({ body: "arrived" })))
  const entered = yield* Effect.promise(() =>
    page.request.post(`${origin}/auth/sign-in`, { data: { email, password } })
  )
  expect(entered.status()).toBe(200)
  return { ...opened, words: pageWords[look.language] }
})

/**
 * Finds problems on the current page: accessibility violations, the wrong language, and names that act as script, markup or a
 * bidi override.
 */
const wrongs = async (page: Page, look: Look): Promise<ReadonlyArray<string>> => {
  const state = await page.evaluate(() => ({
    language: document.documentElement.lang,
    fired: Reflect.has(globalThis, "__canary"),
    foreign: document.querySelectorAll("script, img, svg, iframe, [onerror], [onload]").length,
    overrides: /[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)
  }))
  return [
    ...(await barriers(page)),
    ...(state.language === look.language ? [] : [`lang is ${state.language}`]),
    ...(state.fired ? ["a canary fired"] : []),
    ...(state.foreign === 0 ? [] : ["a name became markup"]),
    ...(state.overrides ? ["a name turns the words around"] : [])
  ]
}

const policyOf = async (page: Page, address: string): Promise<string> =>
  (await page.goto(address))?.headers()["content-security-policy"] ?? ""

const tokenOf = Schema.decodeUnknownEffect(Schema.Struct({ access_token: Schema.String, id_token: Schema.String }))
const startOf = Schema.decodeUnknownEffect(
  Schema.Struct({ device_code: Schema.String, verification_uri_complete: Schema.String })
)
const jsonOf = (response: Response) => Effect.promise(() => response.json())

const looks = [
  ["English, light", lightEnglish],
  ["Japanese, dark", darkJapanese]
] as const

describe.each(looks)("Issuer pages in %s", (_name, look) => {
  it.live(
    "the issuer's pages require consent before an application gets access, and redirect only to that application",
    () =>
      Effect.gen(function* () {
        const { browser, origin, send } = yield* issuerWithAccount
        const { faults, page, words } = yield* visitor(browser, origin, look)
        const address = authorization(origin)
        const policy = yield* Effect.promise(() => policyOf(page, address))
        expect(policy).toContain("default-src 'none'")
        expect(policy).toContain("form-action 'self';")
        expect(policy).not.toMatch(/script-src|unsafe|\*/)
        expect(yield* Effect.promise(() => wrongs(page, look))).toEqual([])
        yield* Effect.promise(() => page.getByText(email, { exact: true }).waitFor())
        expect(yield* Effect.promise(() => page.locator("h1").textContent())).toContain("<img src=x onerror=")

        yield* Effect.promise(() => page.getByRole("button", { name: words.deny, exact: true }).click())
        yield* Effect.promise(() => page.waitForURL(`${callback}?*`))
        expect(new URL(page.url()).searchParams.get("error")).toBe("access_denied")

        yield* Effect.promise(() => page.goto(address))
        yield* Effect.promise(() => page.getByRole("button", { name: words.allow, exact: true }).press("Enter"))
        yield* Effect.promise(() => page.waitForURL(`${callback}?*`))
        const answer = new URL(page.url()).searchParams
        expect([answer.get("state"), answer.get("iss")]).toEqual(["the-state", origin])
        const tokens = yield* send("/oauth/token", {
          grant_type: "authorization_code",
          client_id: "careful",
          code: answer.get("code") ?? "",
          redirect_uri: callback,
          code_verifier: verifier
        })
        yield* tokenOf(yield* jsonOf(tokens))
        expect(faults).toEqual([])
      }),
    120_000
  )

  it.live(
    "the issuer's pages connect a device by its code, and reject an unknown code",
    () =>
      Effect.gen(function* () {
        const { browser, origin, send } = yield* issuerWithAccount
        const { faults, page, words } = yield* visitor(browser, origin, look)
        const begun = yield* send("/oauth/device_authorization", { client_id: "careful", scope: "openid email" })
        const started = yield* startOf(yield* jsonOf(begun))
        const policy = yield* Effect.promise(() => policyOf(page, started.verification_uri_complete))
        expect(policy).toContain("default-src 'none'")
        expect(yield* Effect.promise(() => wrongs(page, look))).toEqual([])

        const code = page.getByLabel(words.deviceCode)
        const typed = yield* Effect.promise(() => code.inputValue())
        yield* Effect.promise(() => code.fill("BBBB-BBBB"))
        yield* Effect.promise(() => page.getByRole("button", { name: words.deviceContinue }).click())
        yield* Effect.promise(() => page.getByRole("alert").getByText(words.deviceUnknown).waitFor())
        expect(yield* Effect.promise(() => wrongs(page, look))).toEqual([])

        yield* Effect.promise(() => code.fill(typed.toLowerCase()))
        yield* Effect.promise(() => page.getByRole("button", { name: words.deviceContinue }).click())
        yield* Effect.promise(() => page.getByText(words.deviceWarning).waitFor())
        expect(yield* Effect.promise(() => wrongs(page, look))).toEqual([])
        expect(yield* Effect.promise(() => page.locator("h1").textContent())).toContain("<script>")
        yield* Effect.promise(() => page.getByText(typed, { exact: true }).waitFor())
        yield* Effect.promise(() => page.getByRole("button", { name: words.allow, exact: true }).click())
        yield* Effect.promise(() => page.getByText(words.deviceApproved).waitFor())
        expect(yield* Effect.promise(() => wrongs(page, look))).toEqual([])
        const tokens = yield* send("/oauth/token", {
          grant_type: deviceGrant,
          device_code: started.device_code,
          client_id: "careful"
        })
        yield* tokenOf(yield* jsonOf(tokens))
        // The browser logs the expected 400 response.
        expect(faults.filter((fault) => !fault.includes("400"))).toEqual([])
      }),
    120_000
  )
})

describe("without JavaScript", () => {
  it.live(
    "a person sets up, signs in, and authorises an application without JavaScript",
    () =>
      Effect.gen(function* () {
        const { browser, origin, secret } = yield* issuer
        const { page } = yield* Effect.promise(() => browser.open(lightEnglish))
        const plain = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const context = await page.context().browser()?.newContext({ javaScriptEnabled: false, locale: "en-GB" })
            if (context === undefined) throw new Error("The page has no browser.")
            return context
          }),
          (context) => Effect.promise(() => context.close())
        )
        const still = yield* Effect.promise(() => plain.newPage())
        const type = (label: string, text: string) => Effect.promise(() => still.getByLabel(label).fill(text))
        const press = (name: string) => Effect.promise(() => still.getByRole("button", { name, exact: true }).click())
        yield* Effect.promise(() => still.route(`${callback}*`, (route) => route.fulfill({ body: "arrived" })))
        yield* Effect.promise(() => still.goto(`${origin}/setup#${secret}`))
        yield* type("Setup code", secret)
        yield* type("E-mail address", "mina@acme.example")
        yield* type("Password", password)
        yield* press("Create account")
        yield* Effect.promise(() => still.waitForURL(`${origin}/`))
        yield* Effect.promise(() => plain.clearCookies())

        yield* Effect.promise(() => still.goto(authorization(origin)))
        yield* Effect.promise(() => still.waitForURL("**/sign-in?return=*"))
        yield* type("E-mail address", "mina@acme.example")
        yield* type("Password", "not the password at all")
        yield* press("Sign in")
        yield* Effect.promise(() => still.getByRole("alert").waitFor())
        yield* Effect.promise(() => still.goto(authorization(origin)))
        yield* type("E-mail address", "mina@acme.example")
        yield* type("Password", password)
        yield* press("Sign in")
        yield* press(pageWords.en.allow)
        yield* Effect.promise(() => still.waitForURL(`${callback}?*`))
        expect(new URL(still.url()).searchParams.get("code")).not.toBeNull()

        // The consent is stored, so signing in leads straight to the application on the other site.
        yield* Effect.promise(() => plain.clearCookies())
        yield* Effect.promise(() => still.goto(authorization(origin)))
        yield* Effect.promise(() => still.waitForURL("**/sign-in?return=*"))
        yield* type("E-mail address", "mina@acme.example")
        yield* type("Password", password)
        const asked = still.waitForRequest((request) => request.url().startsWith(`${callback}?`))
        yield* press("Sign in")
        const arrival = new URL((yield* Effect.promise(() => asked)).url())
        expect(arrival.searchParams.get("code")).not.toBeNull()
      }),
    120_000
  )
})

describe("Issuer policy", () => {
  it.live(
    "the content policy of the issuer's pages blocks scripts hidden in a name",
    () =>
      Effect.gen(function* () {
        const { browser, origin } = yield* issuerWithAccount
        const { faults, page } = yield* visitor(browser, origin, lightEnglish)
        yield* Effect.promise(() => page.goto(authorization(origin)))
        yield* Effect.promise(() =>
          page.evaluate(() => {
            document.body.append(Object.assign(document.createElement("script"), { text: "__canary = 1" }))
          })
        )
        expect(faults.some((fault) => fault.includes("script-src") || fault.includes("default-src"))).toBe(true)
        expect(yield* Effect.promise(() => page.evaluate(() => Reflect.has(globalThis, "__canary")))).toBe(false)
      }),
    120_000
  )
})
