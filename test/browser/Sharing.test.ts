import { describe, expect, test } from "bun:test"
import { restoreWords } from "../../src/dashboard/screens/run/RestoreWords.ts"
import { backupWords } from "../../src/dashboard/screens/workspace/BackupWords.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { workspaceId } from "./support/records/Workspaces.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const ours = `/w/acme/capsules/${storefrontId}/dependencies`

describe("dependencies", () => {
  test("dependencies can be added with the values that they pass on, and removed after confirmation", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(ours, ".row-static")
    await page.getByRole("button", { name: "Add a dependency" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Takes from").selectOption("cap_0000000000000005")
    await dialog.getByLabel("Output", { exact: true }).fill("subnet_ids")
    await dialog.getByLabel("Input", { exact: true }).fill("subnets")
    await dialog.getByRole("button", { name: "Add a dependency" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(api.changes).toEqual([
      {
        method: "POST",
        path: `/api/v1/capsules/${storefrontId}/dependencies`,
        body: {
          producerCapsuleId: "cap_0000000000000005",
          mode: "variable_injection",
          outputs: [{ from: "subnet_ids", to: "subnets", required: true }]
        }
      }
    ])
    await page.locator(".row-static").nth(2).waitFor()
    await page.getByRole("button", { name: "Remove" }).first().click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
    await page.locator(".row-static").nth(2).waitFor({ state: "detached" })
    expect(api.changes.at(-1)?.path).toBe("/api/v1/dependencies/dep_0000000000000001")
    expect(faults).toEqual([])
  })
})

describe("shared outputs", () => {
  test("the receiving workspace accepts shared outputs, and the share can be stopped after confirmation", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go("/w/acme/settings/shares", ".row-static")
    await page.getByRole("button", { name: "Accept" }).click()
    await page.getByText("Not accepted yet").waitFor({ state: "detached" })
    await page.getByRole("button", { name: /^End/ }).first().click()
    await page.getByRole("dialog").getByRole("button", { name: "End", exact: true }).click()
    await page.getByText("Ended", { exact: true }).waitFor()
    expect(api.changes.map(({ path }) => path)).toEqual([
      "/api/v1/output-shares/oshare_0000000000000001/approve",
      "/api/v1/output-shares/oshare_0000000000000001/revoke"
    ])
    expect(faults).toEqual([])
  })

  test("outputs are shared by name", async () => {
    const { page, api, go } = await suite.visit()
    await go("/w/acme/settings/shares", ".row-static")
    await page.getByRole("button", { name: "Share outputs" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Capsule").selectOption(storefrontId)
    await dialog.getByRole("checkbox").first().check()
    await dialog.getByLabel("Receiving workspace").fill("ws_0000000000000009")
    await dialog.getByRole("button", { name: "Offer" }).click()
    await dialog.waitFor({ state: "detached" })
    const sent = api.changes[0]?.body
    expect(sent).toMatchObject({
      fromWorkspaceId: workspaceId,
      toWorkspaceId: "ws_0000000000000009",
      producerCapsuleId: storefrontId
    })
  })
})

describe("backups", () => {
  test("backups are created with one click", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme/settings/backups", ".row-static")
    await page.getByRole("button", { name: "Back up now" }).click()
    await page.locator(".row-static").nth(2).waitFor()
  })

  test("an owner can download backups, which stay sealed", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme/settings/backups", ".row-static")
    const download = page.waitForEvent("download")
    await page.getByRole("button", { name: "Download" }).first().click()
    const saved = JSON.parse(await Bun.file(await (await download).path()).text())
    expect(saved).toMatchObject({ format: "svc.sealed-backup/v1", backup: { id: "bkp_0000000000000001" } })
  })

  for (const language of ["en", "ja"] as const) {
    test(`a capsule can be restored from a backup after a review of its names, generations and serials (${language})`, async () => {
      const words = { ...restoreWords[language], ...backupWords[language] }
      const { page, api, faults, go } = await suite.visit({ language, theme: "light" })
      await go("/w/acme/settings/backups", ".row-static")
      await page.getByRole("button", { name: words.restore }).first().click()
      const dialog = page.getByRole("dialog", { name: words.restoreTitle })
      await dialog.getByLabel(words.capsule).selectOption(storefrontId)
      await dialog.getByRole("button", { name: words.review }).click()
      await page.getByRole("heading", { name: restoreWords[language].title }).waitFor()
      const text = await page.locator("main").innerText()
      expect(text).toContain(words.standing(1, 2, 21))
      expect(text).toContain(words.nextStanding(4, 7))
      expect(text).toContain("region")
      await page.getByTestId("decision").getByRole("button", { name: words.approve }).click()
      const approval = page.getByRole("dialog", { name: words.approveTitle })
      await approval.locator("input").fill("storefront")
      await approval.getByRole("button", { name: words.approve }).click()
      await approval.waitFor({ state: "detached" })
      expect(api.changes.map(({ path }) => path.replace(/run_[^/]+/, "run"))).toEqual([
        "/api/v1/backups/bkp_0000000000000001/restore-plan",
        "/api/v1/runs/run/approve",
        "/api/v1/runs/run/apply"
      ])
      expect(faults).toEqual([])
    })
  }
})
