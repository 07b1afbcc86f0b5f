import { describe, expect, test } from "bun:test"
import type { Page, Route } from "playwright-core"
import { reviewRun } from "./support/records/Runs.ts"
import { browserSuite } from "./support/Suite.ts"
import { drawn } from "./support/Work.ts"

const suite = browserSuite()

/** Holds back every script except the small first one until `release` is called. */
const holdCode = async (page: Page) => {
  const held: Array<Route> = []
  let open = false
  await page.route(/\/assets\/(?!Start-|Boot-)[\w.-]+\.js$/, async (route) => {
    if (open) await route.continue()
    else held.push(route)
  })
  return {
    release: async () => {
      open = true
      await Promise.all(held.splice(0).map((route) => route.continue()))
    }
  }
}

describe("First visits", () => {
  test("a first visit shows the page's frame and requests its data while the code is still loading", async () => {
    const { page, api, faults } = await suite.visit()
    const asked: Array<string> = []
    page.on("request", (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith("/api/")) asked.push(pathname)
    })
    const code = await holdCode(page)
    const capsule = page.waitForRequest(/\/api\/v1\/capsules\//)
    await page.goto(`${api.origin}/w/acme/runs/${reviewRun}`, { waitUntil: "commit" })
    await page.locator(".first-frame .side-link").first().waitFor()
    await capsule
    expect(asked).toContain("/api/v1/dashboard/bootstrap")
    expect(asked).toContain(`/api/v1/runs/${reviewRun}`)

    await code.release()
    await page.locator(".decision").waitFor()
    expect(await page.locator(".first-frame").count()).toBe(0)
    // The page does not repeat requests that were sent before its code arrived.
    expect(asked.filter((path) => path === "/api/v1/dashboard/bootstrap")).toHaveLength(1)
    expect(faults).toEqual([])
  })

  test("a first visit uses the product's own typefaces, which are fetched once and cached forever", async () => {
    const { page, go, faults } = await suite.visit()
    const fetched: Array<{ readonly type: string | undefined; readonly kept: string | undefined }> = []
    page.on("response", (response) => {
      if (!new URL(response.url()).pathname.endsWith(".woff2")) return
      const headers = response.headers()
      fetched.push({ type: headers["content-type"], kept: headers["cache-control"] })
    })
    await go(`/w/acme/runs/${reviewRun}`, ".log-line")
    await page.evaluate(() => document.fonts.ready)
    const faces = await page.evaluate(() =>
      [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family.replaceAll('"', ""))
    )
    expect(faces.toSorted()).toEqual(["Geist", "Geist Mono"])
    const kept = { type: "font/woff2", kept: "public, max-age=31536000, immutable" }
    expect(fetched).toEqual([kept, kept])
    // The browser does not warn about an unused preload.
    expect(faults).toEqual([])
  })

  test("a first visit to the start page requests the workspace's overview before the code arrives", async () => {
    const { page, api, faults } = await suite.visit()
    const code = await holdCode(page)
    const overview = page.waitForRequest(/\/api\/v1\/dashboard\/overview/)
    await page.goto(api.origin, { waitUntil: "commit" })
    await overview
    await code.release()
    await page.locator(".attention-row").first().waitFor()
    expect(faults).toEqual([])
  })

  test("a first visit without a session redirects to sign-in, and back to the page afterwards", async () => {
    const { page, api } = await suite.visit()
    api.world.signedIn = false
    await page.goto(`${api.origin}/w/acme/runs/${reviewRun}`)
    await page.waitForURL(/\/sign-in\?return=/)
    expect(new URL(page.url()).searchParams.get("return")).toBe(`/w/acme/runs/${reviewRun}`)
  })

  test("a first visit keeps the typed text and the caret when the sign-in code arrives", async () => {
    const { page, api, faults } = await suite.visit()
    api.world.signedIn = false
    const code = await holdCode(page)
    await page.goto(`${api.origin}/sign-in`, { waitUntil: "commit" })
    const address = page.getByLabel("E-mail address")
    const password = page.getByLabel("Password", { exact: true })
    await password.fill("correct horse battery staple")
    await address.pressSequentially("mina@")
    const offered = page.waitForRequest("**/auth/offer")
    await code.release()
    // The sign-in form requests `/auth/offer` once its script has loaded.
    await offered
    await page.keyboard.type("acme.example")
    const sent = page.waitForRequest("**/auth/sign-in")
    await page.keyboard.press("Enter")
    expect((await sent).postDataJSON()).toEqual({
      email: "mina@acme.example",
      password: "correct horse battery staple"
    })
    expect(faults).toEqual([])
  })

  test("a first visit with a revoked session redirects to sign-in without showing an error", async () => {
    const { page, api, faults } = await suite.visit()
    api.world.signedIn = false
    // A navigation that receives 204 No Content leaves the current page and its messages in place.
    await page.route(/\/sign-in\?/, (route) => route.fulfill({ status: 204 }))
    const leaving = page.waitForEvent("requestfailed", (request) => request.url().includes("/sign-in?"))
    await page.goto(`${api.origin}/account`, { waitUntil: "commit" })
    await leaving
    for (let frame = 0; frame < 20; frame++) await drawn(page)
    expect(new URL(page.url()).pathname).toBe("/account")
    expect(await page.getByText("This page stopped working").count()).toBe(0)
    expect(faults.filter((fault) => !fault.includes("401"))).toEqual([])
  })
})
