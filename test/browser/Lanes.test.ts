import { describe, expect, test } from "bun:test"
import { storefrontId } from "./support/records/Capsules.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const source = "/w/acme/sources/src_0000000000000001"

describe("Source lanes", () => {
  test("each lane shows its commit, the time svc observed it, and the reason for a failed fetch", async () => {
    const { page, faults, go } = await suite.visit()
    await go(source, ".row-static")
    const lanes = page.locator(".panel", { has: page.getByRole("heading", { name: "Followed refs" }) })
    await lanes.getByText("default", { exact: true }).waitFor()
    const failing = lanes.locator("li", { has: page.locator("code", { hasText: "release" }) })
    await failing.getByText("This ref cannot be fetched").waitFor()
    await failing.getByText("The ref release does not exist.").waitFor()
    expect(await failing.innerText()).toContain("source_ref_not_found")
    expect(faults).toEqual([])
  })
})

describe("Automation pause", () => {
  test("pausing automation requires a reason, and every page shows who paused it", async () => {
    const world = newWorld()
    const { page, api, faults, go } = await suite.visit(undefined, world)
    await go("/w/acme/settings/settings", ".panel")
    await page.getByLabel("Why").fill("incident 7")
    await page.getByRole("button", { name: "Pause all automation" }).click()
    await page.getByText("Automation is paused").waitFor()
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      ["/api/v1/workspaces/ws_0000000000000001/automation", { paused: true, reason: "incident 7" }]
    ])
    await go("/w/acme/capsules", ".long-row")
    const banner = page.locator(".notice", { hasText: "Automation is paused" })
    await banner.getByText("incident 7").waitFor()
    await banner.getByRole("link", { name: "Settings" }).click()
    await page.getByRole("button", { name: "Resume automation" }).click()
    await page.getByRole("button", { name: "Pause all automation" }).waitFor()
    expect(await page.getByText("Automation is paused").count()).toBe(0)
    expect(faults).toEqual([])
  })
})

describe("Pinned capsules", () => {
  test("a pinned capsule shows who pinned it and why, and can be resumed", async () => {
    const world = newWorld()
    const at = "2026-01-01T00:00:00.000Z"
    const pinnedBy = {
      runId: reviewRun,
      subject: "usr_0000000000000001",
      at,
      reason: "two breaks the login",
      resumeOnNewCommit: false
    }
    world.capsules = world.capsules.map((each) =>
      each.id === storefrontId ? { ...each, autoUpdate: { enabled: true, apply: false, pinnedBy } } : each
    )
    world.decisions = [
      {
        id: "aud_0000000000000001",
        capsuleId: storefrontId,
        sourceSnapshotId: "snap_0000000000000001",
        resolvedCommit: "a".repeat(40),
        decision: "skipped",
        reason: "pinned",
        message: "A rollback holds the Capsule: two breaks the login",
        createdAt: at,
        updatedAt: at
      }
    ]
    const { page, api, faults, go } = await suite.visit(undefined, world)
    await go(`/w/acme/capsules/${storefrontId}`, ".notice")
    const notice = page.locator(".notice", { hasText: "A rollback or restore holds this capsule" })
    await notice.getByText("Applied by Mina Sato", { exact: false }).waitFor()
    await notice.getByText("two breaks the login").waitFor()
    await page.getByText("Skipped", { exact: true }).waitFor()
    await notice.getByRole("button", { name: "Resume auto-update" }).click()
    await notice.waitFor({ state: "detached" })
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      [`/api/v1/capsules/${storefrontId}`, { autoUpdate: { resume: true } }]
    ])
    await go(`/w/acme/capsules/${storefrontId}/state`, ".row-static")
    await page.getByRole("button", { name: "Roll back to this" }).first().click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Why").fill("back")
    await dialog.getByLabel("Resume at the next new commit").check()
    await dialog.getByRole("button", { name: "Plan the rollback" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(api.changes.at(-1)?.body).toEqual({ reason: "back", resumeOnNewCommit: true })
    expect(faults).toEqual([])
  })
})

describe("Path filter", () => {
  test("the check box for a capsule's path filter has an explanation, and saves the choice", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(`/w/acme/capsules/${storefrontId}/danger`, ".panel")
    const box = page.getByLabel("Skip commits that do not change this module")
    expect(await box.isChecked()).toBe(false)
    await page.getByText("Manifest changes, source builds and computed paths always count.").waitFor()
    await box.click()
    await page.getByText("Saved").first().waitFor()
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      [`/api/v1/capsules/${storefrontId}`, { pathFilter: true }]
    ])
    expect(faults).toEqual([])
  })
})
