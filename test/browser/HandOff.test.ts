import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { storefrontId } from "./support/records/Capsules.ts"
import { applyRun } from "./support/records/Runs.ts"
import { newWorld, replaceRun, type World } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const returnUri = "https://notes.example/connected"
const link = `/install?git=${encodeURIComponent("https://git.acme.example/infra/platform.git")}&path=modules%2Fservice&name=Notes&product=notes&return_uri=${encodeURIComponent(returnUri)}`
const ticket = "canary-setup-ticket"

/**
 * Simulates the program that started the flow. Records the requests that it receives, and the requests that the server receives
 * before them.
 */
const elsewhere = async (page: Page) => {
  const visits: Array<string> = []
  const asked: Array<unknown> = []
  await page.route("https://notes.example/**", async (route) => {
    visits.push(route.request().url())
    await route.fulfill({ contentType: "text/html", body: "<!doctype html><title>notes</title><h1>Welcome back</h1>" })
  })
  await page.route("**/install/return", async (route) => {
    asked.push(route.request().postDataJSON())
    await route.fulfill({ json: { location: `${returnUri}?product=notes&run_id=${applyRun}&setup_ticket=${ticket}` } })
  })
  return { visits, asked }
}

const nameCapsule = (page: Page) =>
  page.route(/\/install-plans(?:\/[^/]+\/reconcile)?$/, async (route) => {
    const answer = await route.fetch()
    const body: { readonly installPlan: object } = await answer.json()
    await route.fulfill({ response: answer, json: { installPlan: { ...body.installPlan, capsuleId: storefrontId } } })
  })

const stored = (page: Page) => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))

const applied = (): World => {
  const world = newWorld()
  replaceRun(world, applyRun, {
    capsuleId: storefrontId,
    status: "succeeded",
    finishedAt: new Date().toISOString()
  })
  return world
}

describe("External installs", () => {
  test("an external install shows its destination, continues there only on request, and stores no part of the ticket", async () => {
    const { page, api, faults, go } = await suite.visit(undefined, applied())
    const { visits, asked } = await elsewhere(page)
    await nameCapsule(page)
    await go(link, "input[type=url]")
    await page.getByText("After the apply, notes continues at").waitFor()
    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByLabel("Domain").fill("notes.example.com")
    await page.getByLabel("Session key").fill("s3cret")
    await page.getByLabel("Connection for aws").selectOption({ label: "AWS production" })
    await page.getByLabel("I have read these commands; run them").check()
    await page.getByRole("button", { name: "Make the plan" }).click()
    await page.getByText("After a successful apply you can continue to notes at").waitFor()

    await go(`/w/acme/runs/${applyRun}`)
    await page.getByRole("heading", { name: "Everything is in place" }).waitFor()
    await page.getByText(returnUri).waitFor()
    expect([visits, asked]).toEqual([[], []])

    await page.getByRole("button", { name: "Continue to notes" }).click()
    await page.getByRole("heading", { name: "Welcome back" }).waitFor()
    expect(asked).toEqual([{ runId: applyRun, product: "notes", returnUri }])
    expect(visits.filter((url) => url.startsWith(returnUri))).toEqual([
      `${returnUri}?product=notes&run_id=${applyRun}&setup_ticket=${ticket}`
    ])
    expect(faults).toEqual([])

    await page.goto(`${api.origin}/w/acme/runs/${applyRun}`)
    await page.locator(".log-line").first().waitFor()
    // The response may have been lost, so the same Run may send the ticket again, but another Run may not.
    await page.getByRole("button", { name: "Continue to notes" }).waitFor()
    expect(await stored(page)).not.toContain(ticket)
    api.world.runs = api.world.runs.map((run) => (run.id === applyRun ? { ...run, id: "run_later" } : run))
    await page.goto(`${api.origin}/w/acme/runs/run_later`)
    await page.locator(".log-line").first().waitFor()
    expect(await page.getByRole("button", { name: "Continue to notes" }).count()).toBe(0)
  })

  test("an external install rejects a return address other than the one given at the start", async () => {
    const { page, go } = await suite.visit(undefined, applied())
    await page.route("**/install/return", (route) =>
      route.fulfill({ json: { location: `https://evil.example/?setup_ticket=${ticket}` } })
    )
    await page.addInitScript(([key, value]) => localStorage.setItem(key, value), [
      `svc.hand-off ${storefrontId}`,
      JSON.stringify({ product: "notes", returnUri, since: Date.now() })
    ] as const)
    await go(`/w/acme/runs/${applyRun}`)
    const answered = page.waitForResponse("**/install/return")
    await page.getByRole("button", { name: "Continue to notes" }).click()
    await answered
    await page.getByText("The server returned a different address than at the start.").waitFor()
    expect(new URL(page.url()).pathname).toBe(`/w/acme/runs/${applyRun}`)
  })

  test("the page does not mention an external install to people who did not come from another program", async () => {
    const { page, go } = await suite.visit(undefined, applied())
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    expect(await page.getByRole("heading", { name: "Everything is in place" }).count()).toBe(0)
  })
})
