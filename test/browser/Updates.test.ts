import { describe, expect, test } from "bun:test"
import type { RunGroup } from "../../src/dashboard/api/Types.ts"
import { checkoutId, waitingUpdate as group } from "./support/records/RunGroups.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

describe("Workspace updates", () => {
  test("an update shows its waves and why each wave waits, and can be cancelled after confirmation", async () => {
    const { page, faults, go } = await suite.visit()
    let shown: RunGroup = group
    const changes: Array<string> = []
    await page.route(`**/api/v1/run-groups/${group.id}**`, async (route) => {
      if (route.request().method() === "POST") {
        changes.push(new URL(route.request().url()).pathname)
        shown = { ...group, status: "cancelled", finishedAt: "2026-01-01T00:01:00.000Z" }
      }
      await route.fulfill({ json: { runGroup: shown, runs: [] } })
    })
    await go(`/w/acme/updates/${group.id}`, "[data-testid=member-checkout]")
    await page.getByRole("heading", { name: "Wave 2" }).waitFor()
    await page.getByTestId("member-checkout").getByText("Waits for storefront (To review)").waitFor()
    await page.getByTestId("member-storefront").getByRole("link", { name: "Review" }).waitFor()
    await page.getByRole("button", { name: "Cancel the update" }).click()
    const question = page.getByRole("dialog", { name: "Cancel this update?" })
    await question.getByRole("button", { name: "Cancel the update" }).click()
    await question.waitFor({ state: "detached" })
    await page.locator(".page-head").getByText("Cancelled").waitFor()
    expect(changes).toEqual([`/api/v1/run-groups/${group.id}/cancel`])
    expect(faults).toEqual([])
  })

  test("a stale capsule shows a newer commit and the changed output", async () => {
    const { page, faults, go } = await suite.visit()
    await go(`/w/acme/capsules/${checkoutId}`, ".split")
    await page.getByText("An update is available").waitFor()
    const notice = page.locator(".notice", { hasText: "Inputs from other capsules have changed" })
    await notice.getByText("bucket").waitFor()
    await notice.getByRole("link", { name: "storefront" }).waitFor()
    expect(faults).toEqual([])
  })
})
