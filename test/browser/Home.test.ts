import { describe, expect, test } from "bun:test"
import { storefrontId } from "./support/records/Capsules.ts"
import { newWorld } from "./support/routes/World.ts"
import { healthOf, needs } from "./support/records/AttentionItems.ts"
import { waitingUpdate } from "./support/records/RunGroups.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

describe("home", () => {
  test("home shows each capsule once with all its reasons, in groups ordered by risk", async () => {
    const { page, faults, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await page.getByRole("heading", { level: 1, name: "6 things need you" }).waitFor()
    await page.getByText("279 of 300 capsules are as configured.").waitFor()
    expect(await page.locator(".need-group > h3").allTextContents()).toEqual([
      "Uncertain or failed 2",
      "To approve or apply 1",
      "Held up 1",
      "Drifted 1",
      "Updates 1"
    ])
    const entry = (name: string) => page.getByTestId(`need-${name}`)
    await entry("metrics").getByText("Its first plan failed: none of its infrastructure exists yet").waitFor()
    await entry("metrics").getByText("Reference to undeclared input variable: retention_days").waitFor()
    await entry("storefront").getByText("also: drifted").waitFor()
    await entry("storefront").getByText("storefront: cut legacy export access").waitFor()
    await entry("storefront").getByRole("link", { name: "Review" }).waitFor()
    await entry("network").getByText("3 resources changed outside svc").waitFor()
    expect(faults).toEqual([])
  })

  test("home plans all capsules that wait for the same commit in one update, and opens the update", async () => {
    const { api, page, faults, go } = await suite.visit()
    await page.route(`**/api/v1/run-groups/${waitingUpdate.id}**`, (route) =>
      route.fulfill({ json: { runGroup: waitingUpdate, runs: [] } })
    )
    await go("/w/acme", ".attention-row")
    const entry = page.getByTestId("need-checkout")
    await entry.getByText("14 capsules are behind").waitFor()
    await entry.getByText("and 11 more").waitFor()
    await entry.getByRole("button", { name: "Plan all 14" }).click()
    await page.waitForURL(/\/updates\//)
    const [change] = api.changes
    expect(change?.path).toEndWith("/plan-update")
    const shared = needs.find(({ capsules }) => capsules.length === 14)
    expect(change?.body).toEqual({ capsuleIds: shared?.capsules.map(({ id }) => id) ?? [] })
    expect(faults).toEqual([])
  })

  test("home asks for confirmation if a new update would cancel the open update", async () => {
    const { api, page, faults, go } = await suite.visit()
    const open = {
      key: waitingUpdate.id,
      group: "blocked",
      kind: "update_held",
      also: [],
      since: waitingUpdate.createdAt,
      capsules: needs[0]?.capsules ?? [],
      runGroupId: waitingUpdate.id,
      reason: "The next wave is not planned."
    } as const
    api.world.needs = [open, ...needs.filter(({ kind }) => kind === "stale")]
    await go("/w/acme", ".attention-row")
    await page.getByText("The next wave is not planned.").waitFor()
    await page.getByRole("button", { name: "Plan all 14" }).click()
    const question = page.getByRole("dialog", { name: "Start a new update?" })
    await question.getByRole("button", { name: "Cancel" }).click()
    await question.waitFor({ state: "detached" })
    expect(api.changes).toEqual([])
    expect(faults).toEqual([])
  })

  test("home loads more entries on demand, but its count includes all entries from the start", async () => {
    const { api, page, faults, go } = await suite.visit()
    const [drifted] = needs.filter(({ kind }) => kind === "drifted")
    if (drifted === undefined) throw new Error("no drift")
    api.world.needs = Array.from({ length: 8 }, (_, index) => ({ ...drifted, key: `cap_${index}` }))
    await go("/w/acme", ".attention-row")
    await page.getByRole("heading", { level: 1, name: "8 things need you" }).waitFor()
    expect(await page.locator(".need-group > h3").allTextContents()).toEqual(["Drifted 8"])
    expect(await page.locator(".attention-row").count()).toBe(6)
    await page.getByRole("button", { name: "Show more" }).click()
    await page.locator(".attention-row").nth(7).waitFor()
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test("home reports that everything is as configured only after every capsule was checked for drift", async () => {
    const { api, page, faults, go } = await suite.visit()
    api.world.needs = []
    api.world.health = healthOf(12)
    await go("/w/acme", ".health")
    await page.getByRole("heading", { level: 1, name: "Everything is as configured" }).waitFor()
    await page.getByText("no recent drift check found a difference").waitFor()

    api.world.health = healthOf(12, { healthy: 4, unchecked: 8 })
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    await page.getByText("8 capsules were never checked for drift").waitFor()
    await page.getByText("12 of 12 capsules are as configured. 8 of them were never checked for drift.").waitFor()
    expect(faults).toEqual([])
  })

  test("the activity on home shows the name of a Run's capsule even if the page has not loaded the Run", async () => {
    const world = newWorld()
    const [event] = world.activity
    if (event === undefined) throw new Error("No activity.")
    const runId = "run_0000000000007777"
    world.activity = [
      { ...event, action: "run.comment", target: { kind: "run", id: runId }, runId, capsuleId: storefrontId, data: {} }
    ]
    const { page, go } = await suite.visit(undefined, world)
    await go("/w/acme", ".activity-row")
    const row = page.locator(".activity-row", { hasText: "commented on a run." })
    await row.getByRole("link", { name: "storefront · production" }).waitFor()
    expect(await row.textContent()).not.toContain(runId)
  })

  test("home is shown in Japanese and fits a phone screen", async () => {
    const { page, faults, go } = await suite.visit({ language: "ja", theme: "dark", width: 390, height: 844 })
    await go("/w/acme", ".attention-row")
    await page.getByRole("heading", { level: 1, name: "6 件の対応が必要です" }).waitFor()
    await page.getByRole("button", { name: "14 個すべてをプラン" }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(faults).toEqual([])
  })
})
