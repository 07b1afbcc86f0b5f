import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

const visitor = () => {
  const world = newWorld()
  world.signedIn = false
  return world
}

const offering = (page: Page, password: boolean) =>
  page.route("**/auth/offer", (route) =>
    route.fulfill({ json: { password, passkeys: true, provider: { name: "Acme ID" } } })
  )

describe("sign-in methods", () => {
  test("the sign-in page offers the sign-in methods of the server, including its provider, and returns to the requested page", async () => {
    const { page, faults, go } = await suite.visit(undefined, visitor())
    await offering(page, true)
    await go(`/sign-in?return=${encodeURIComponent("/new?git=https://x.example/y")}`)
    const link = page.getByRole("link", { name: "Continue with Acme ID" })
    expect(await link.getAttribute("href")).toBe(
      `/auth/upstream/start?return=${encodeURIComponent("/new?git=https://x.example/y")}`
    )
    expect(await page.getByLabel("Password").count()).toBe(1)
    expect(faults).toEqual([])
  })

  test("the sign-in page offers no password field if the server accepts no passwords", async () => {
    const { page, go } = await suite.visit(undefined, visitor())
    await offering(page, false)
    await go("/sign-in")
    await page.getByLabel("Password").waitFor({ state: "detached" })
    await page.getByRole("link", { name: "Continue with Acme ID" }).waitFor()
    expect(await page.getByText("reset-password").count()).toBe(0)
  })

  test("sign-in redirects only to pages of this server", async () => {
    const { page, go } = await suite.visit(undefined, visitor())
    await offering(page, true)
    await go(`/sign-in?return=${encodeURIComponent("https://evil.example/")}`)
    const link = page.getByRole("link", { name: "Continue with Acme ID" })
    expect(await link.getAttribute("href")).toBe("/auth/upstream/start?return=%2F")
  })
})

describe("Address links", () => {
  test("an address link shows its purpose, or the reason why it cannot be used, even after a reload", async () => {
    for (const [secret, said] of [
      ["#svce_secret", "gets the address mina.sato@acme.example instead of mina@acme.example"],
      ["#svce_used", "This link was used"],
      ["#svce_expired", "This link has expired"],
      ["#svce_of_another", "This link is not for your account"],
      ["", "This page needs the link"]
    ] as const) {
      const { page, go } = await suite.visit()
      await go(`/account/address${secret}`, "h1")
      await page.getByText(said).waitFor()
      await page.reload()
      await page.getByText(said).waitFor()
      expect(page.url()).not.toContain("#")
      await page.close()
    }
  })

  test("opening an address link replaces the link that is already open", async () => {
    const { page, go } = await suite.visit()
    await go("/account/address#svce_used", ".notice-warn")
    await page.evaluate(() => {
      location.hash = "svce_secret"
    })
    await page.getByText("gets the address mina.sato@acme.example").waitFor()
    await page.waitForFunction(() => location.hash === "")
  })

  test("a person can request an address link if the server sends email, and otherwise the operator creates the link", async () => {
    const { page, api, go } = await suite.visit()
    await go("/account", ".row-static")
    await page.getByRole("button", { name: "Change address" }).click()
    await page.getByRole("dialog").getByLabel("New e-mail address").fill("mina.sato@acme.example")
    await page.getByRole("button", { name: "Send the link" }).click()
    await page.getByText("A link was sent to the new address").waitFor()
    expect(api.changes.at(-1)).toMatchObject({
      path: "/auth/address/link",
      body: { email: "mina.sato@acme.example" }
    })
    expect(await page.getByText("svc admin address-link").count()).toBe(0)
    await page.route("**/dashboard/bootstrap*", async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, json: { ...(await answer.json()), sendsMail: false } })
    })
    await page.reload()
    await page.getByText("svc admin address-link").waitFor()
    expect(await page.getByRole("button", { name: "Change address" }).count()).toBe(0)
  })
})

describe("the account", () => {
  test("the account page links and unlinks identities of the provider", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go("/account", ".row-static")
    const link = page.getByRole("link", { name: "Link an identity" })
    expect(await link.getAttribute("href")).toBe("/auth/upstream/start?link=true&return=%2Faccount")
    await page.getByRole("button", { name: "Unlink" }).click()
    await page
      .getByRole("dialog", { name: "Unlink login.acme.example?" })
      .getByRole("button", { name: "Unlink" })
      .click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(api.changes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /auth/upstream/identities/uid_1"
    ])
    expect(faults).toEqual([])
  })

  test("the last sign-in method of an account cannot be removed, and the page shows the reason", async () => {
    const { page, go } = await suite.visit()
    const message = "This is the last way to sign in to this account. Add another one first."
    await page.route("**/auth/upstream/identities/*", (route) =>
      route.fulfill({ status: 409, json: { error: { code: "failed_precondition", message, requestId: "req_test" } } })
    )
    await go("/account", ".row-static")
    await page.getByRole("button", { name: "Unlink" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Unlink" }).click()
    await page.getByRole("dialog").getByText(message).waitFor()
  })

  test("the account page can revoke an application's access", async () => {
    const { page, api, go } = await suite.visit()
    await go("/account", ".row-static")
    await page.getByText("svc command line", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Withdraw access" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw access" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(api.changes.map(({ path }) => path)).toEqual(["/auth/grants/grant_1/revoke"])
  })

  test("signing out everywhere requires confirmation, and then leads to the sign-in page", async () => {
    const { page, go } = await suite.visit()
    const asked: Array<string> = []
    await page.route("**/auth/sign-out-everywhere", async (route) => {
      asked.push(route.request().method())
      await route.fulfill({ status: 204 })
    })
    await go("/account", ".row-static")
    await page.getByRole("button", { name: "Sign out everywhere" }).click()
    await page.getByText("Every device is signed out, including this device.").waitFor()
    expect(asked).toEqual([])
    await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click()
    await page.waitForURL("**/sign-in")
    expect(asked).toEqual(["POST"])
  })

  test("the account page offers no password change if the server accepts no passwords", async () => {
    const { page, go } = await suite.visit()
    await page.route("**/dashboard/bootstrap", async (route) => {
      const answer = await route.fetch()
      const body: { readonly capabilities: object } = await answer.json()
      const capabilities = { ...body.capabilities, auth: { oidc: false, password: false } }
      await route.fulfill({ response: answer, json: { ...body, capabilities } })
    })
    await go("/account", ".row-static")
    expect(await page.getByRole("heading", { name: "Password" }).count()).toBe(0)
    expect(await page.getByRole("heading", { name: "Single sign-on" }).count()).toBe(0)
  })
})
