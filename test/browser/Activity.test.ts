import { describe, expect, test } from "bun:test"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese } from "./support/Suite.ts"

const suite = browserSuite()

describe("the activity", () => {
  test("the activity shows people, actions, records and comments by name", async () => {
    const world = newWorld()
    const [event] = world.activity
    const [source] = world.sources
    if (event === undefined || source === undefined) throw new Error("No activity.")
    const gone = { ...source, id: "src_0000000000000099", url: "https://git.acme.example/infra/mistyped.git" }
    world.removedSources = [{ ...gone, removedAt: new Date().toISOString() }]
    const more = (index: number, action: string, kind: string, id: string, data = {}) => ({
      ...event,
      id: `act_named${index}`,
      action,
      target: { kind, id },
      data
    })
    world.activity = [
      ...world.activity,
      more(1, "install_plan.create", "install_plan", "ipl_0000000000000001", { capsule: "mail", environment: "test" }),
      more(2, "workspace.update", "workspace", event.workspaceId),
      more(3, "source.sync", "source", gone.id)
    ]
    const { page, faults, go } = await suite.visit(undefined, world)
    await go("/w/acme/activity", ".activity-row")
    const row = (text: string) => page.locator(".activity-row", { hasText: text })
    await row("Mina Sato approved a plan.").getByText("Looks right.").waitFor()
    await row("planned a change of a capsule's configuration.")
      .getByRole("link", { name: "storefront · production" })
      .waitFor()
    await row("synced a source.").getByRole("link", { name: "git.acme.example/infra/platform" }).waitFor()
    await row("started an install.").getByText("mail · test").waitFor()
    await page.locator(".activity-detail", { hasText: "Acme Platform" }).waitFor()
    await page.locator(".activity-detail", { hasText: "git.acme.example/infra/mistyped" }).waitFor()
    // A Run appears under its Capsule's name.
    await row("Mina Sato approved a plan.").getByRole("link", { name: "storefront · production" }).waitFor()
    expect(await page.locator(".activity-detail code").allTextContents()).toEqual([])
    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test("the activity collapses repeated actions, summarises plans, and hides syncs that found nothing new", async () => {
    const world = newWorld()
    const [first] = world.activity
    const [template] = world.runs
    if (first === undefined || template === undefined) throw new Error("No activity.")
    const sync = (index: number) => `run_sync${String(index).padStart(12, "0")}`
    world.runs = [
      ...world.runs,
      ...[0, 1, 2, 3].map((index) => ({
        ...template,
        id: sync(index),
        type: "source_sync" as const,
        status: "succeeded" as const,
        sourceId: "src_0000000000000001",
        sourceSnapshotId: "snap_0000000000000009",
        createdAt: new Date(Date.now() - (10 - index) * 1000).toISOString()
      }))
    ]
    const again = (action: string, index: number, runId?: string) => ({
      id: `act_again${action.length}${index}`,
      workspaceId: first.workspaceId,
      actor: first.actor,
      action,
      target: { kind: "source", id: "src_0000000000000001" },
      data: {},
      createdAt: new Date(Date.now() - index * 1000).toISOString(),
      ...(runId === undefined ? {} : { runId })
    })
    world.activity = [
      ...[3, 2, 1, 0].map((index) => again("source.sync", 5 + 3 - index, sync(index))),
      ...[0, 1, 2].map((index) => again("connection.test", 20 + index)),
      ...world.activity
    ]
    const { page, go, faults } = await suite.visit(undefined, world)
    await go("/w/acme/activity", ".activity-row")
    const tested = page.locator(".activity-row", { hasText: "3 times" })
    expect(await tested.locator("summary").textContent()).toContain("tested a connection.")
    await page.getByText("3 syncs of 1 source brought nothing new").click()
    expect(await page.locator(".activity-fold[open] .activity-again").count()).toBe(3)
    // A sync that found a change has a separate line.
    expect(await page.locator(".activity-row > .activity-text", { hasText: "synced a source." }).count()).toBe(2)
    await page.locator(".activity-row", { hasText: "requested a plan." }).locator(".sum-destroy").waitFor()
    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test("the page address and the export link contain the activity's filter, so everybody who opens them sees the same list", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme/activity", ".activity-row")
    await page.getByLabel("Action").selectOption("run.approve")
    await page.waitForFunction(() => document.querySelectorAll(".activity-row").length === 1)
    expect(new URL(page.url()).searchParams.get("action")).toBe("run.approve")
    await page.reload()
    await page.locator(".activity-row", { hasText: "approved a plan." }).waitFor()
    expect(await page.locator(".activity-row").count()).toBe(1)
    const href = await page.getByRole("link", { name: "Export as JSON lines" }).getAttribute("href")
    expect(href).toContain("action=run.approve")
    await page.getByLabel("Action").selectOption("token.create")
    await page.getByText("Nothing matches these filters").waitFor()
    await page.getByRole("button", { name: "Clear filters" }).click()
    await page.locator(".activity-row", { hasText: "synced a source." }).waitFor()
    expect(new URL(page.url()).search).toBe("")
  })

  test("the activity page handles an invalid page URL when viewed in Japanese on a phone", async () => {
    const { page, faults, go } = await suite.visit({ ...darkJapanese, width: 390, height: 844 })
    await go("/w/acme/activity?from=never&until=&person=usr_unknown", "h1")
    await page.getByText("条件に合う記録はありません").waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    expect(faults).toEqual([])
  })
})
