import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { appWords } from "../../src/dashboard/app/Words.ts"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { attentionWords } from "../../src/dashboard/screens/home/AttentionWords.ts"
import { homeWords } from "../../src/dashboard/screens/home/Words.ts"
import { runWords } from "../../src/dashboard/screens/run/Words.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { aiko } from "./support/records/People.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { ago } from "./support/records/Seeds.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()
const bootstrap = "**/api/v1/dashboard/bootstrap*"

/** Turns the person into a member who may neither approve nor administer. */
const asMember = (page: Page) =>
  page.route(bootstrap, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replaceAll('"role":"owner"', '"role":"member"') })
  })

/** Removes the person from the Workspace, so that every read of the Workspace is refused. */
const removeFrom = async (page: Page) => {
  await page.route(bootstrap, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), workspaces: [] } })
  })
  await page.route(/\/api\/v1\/(?!dashboard\/bootstrap)/, (route) =>
    route.fulfill({
      status: 403,
      json: { error: { code: "permission_denied", message: "No access.", requestId: "req_test" } }
    })
  )
}

describe("Approval turns", () => {
  for (const look of [lightEnglish, darkJapanese]) {
    const { language } = look
    test(`a plan that somebody else must approve is listed separately, and its approval can be requested (${language})`, async () => {
      const home = homeWords[language]
      const words = attentionWords[language]
      const world = newWorld()
      world.needs = world.needs
        .map((need) =>
          need.kind === "waiting_approval" && need.run !== undefined
            ? { ...need, waitsForOthers: true, run: { ...need.run, approvalAsked: { subject: aiko, at: ago(90) } } }
            : need
        )
        .toSorted((one, other) => Number(one.waitsForOthers ?? false) - Number(other.waitsForOthers ?? false))
      const { api, page, go } = await suite.visit(look, world)
      await asMember(page)
      await go("/w/acme", ".attention-row")
      await page.getByRole("heading", { level: 1, name: home.needYou(5), exact: true }).waitFor()
      const others = page.locator(".panel", { has: page.getByRole("heading", { name: home.others, exact: true }) })
      expect(await others.locator(".attention-row").count()).toBe(1)
      await others.getByText(words.askedBy("Aiko Tanaka")).waitFor()
      expect(await barriers(page)).toEqual([])
      await others.getByRole("button", { name: words.ask }).click()
      await page.getByText(words.asked(2)).waitFor()
      expect(api.changes.map(({ path }) => path)).toEqual([`/api/v1/runs/${reviewRun}/approval-requests`])
    })
  }

  test("a member can read a Capsule's settings, but cannot change them", async () => {
    const { page, go } = await suite.visit()
    await asMember(page)
    await go(`/w/acme/capsules/${storefrontId}/danger`, ".panel")
    const words = capsuleWords.en
    const name = page.getByLabel(words.name, { exact: true })
    await name.waitFor()
    expect(await name.isDisabled()).toBe(true)
    for (const label of [words.autoEnable, words.autoApply, words.pathFilter]) {
      expect(await page.getByLabel(label).isDisabled()).toBe(true)
    }
    expect(await page.locator(".panel-danger").count()).toBe(0)
    expect(await barriers(page)).toEqual([])
  })
})

describe("Removed members", () => {
  for (const [name, path, ready] of [
    ["a Run", `/w/acme/runs/${reviewRun}`, ".comment-form"],
    ["Home", "/w/acme", ".attention-row"],
    ["a Capsule", `/w/acme/capsules/${storefrontId}`, ".tabs"]
  ] as const) {
    test(`after a member is removed, an open page (${name}) shows that person nothing more from the Workspace`, async () => {
      const { page, go } = await suite.visit()
      await page.clock.install()
      await go(path, ready)
      await removeFrom(page)
      await page.clock.runFor(21_000)
      await page.getByRole("heading", { name: appWords.en.removedTitle("Acme Platform"), exact: true }).waitFor()
      expect(await page.getByText("storefront").count()).toBe(0)
      expect(await page.getByText(runWords.en.discussion).count()).toBe(0)
      expect(await barriers(page)).toEqual([])
    })
  }
})
