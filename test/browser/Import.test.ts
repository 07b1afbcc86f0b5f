import { describe, expect, test } from "bun:test"
import { importConfirmationWords } from "../../src/dashboard/screens/capsule/ImportConfirmationWords.ts"
import { exportWords } from "../../src/dashboard/screens/capsule/ExportWords.ts"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { importWords } from "../../src/dashboard/screens/install/ImportWords.ts"
import { takeOverWords } from "../../src/dashboard/screens/install/TakeOverWords.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const link = `/install?git=${encodeURIComponent("https://git.acme.example/infra/platform.git")}&ref=main&path=modules%2Fservice&name=Shop`
const confirmation = importConfirmationWords.en

describe("Imported capsules", () => {
  test("a capsule imported from a backup stays disabled until its name has been typed", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(link, "input[type=url]")
    await page.getByRole("button", { name: "Read the repository" }).click()
    await page.getByLabel("Domain").fill("shop.example.com")
    await page.getByText(importWords.en.title).click()
    const upload = page.getByRole("button", { name: importWords.en.upload })
    expect(await upload.isDisabled()).toBe(true)
    const capsules = ["shop", "mail"].map((name) => ({ capsuleId: `cap_${name}`, name }))
    await page.getByLabel(importWords.en.file).setInputFiles({
      name: "bkp_1.svc-backup.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ format: "svc.sealed-backup/v1", capsules }))
    })
    await page.getByLabel(importWords.en.capsule).selectOption({ label: "mail" })
    await upload.click()
    await page.getByText(importWords.en.from("shop")).waitFor()
    await page.getByText(importWords.en.unlocked).waitFor()
    await page.getByLabel("Session key").fill("s3cret")
    await page.getByLabel("I have read these commands; run them").check()
    await page.getByRole("button", { name: importWords.en.create }).click()
    await page.getByText(confirmation.title).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/w/acme/capsules/${storefrontId}`)
    expect(await page.getByRole("button", { name: capsuleWords.en.plan, exact: true }).count()).toBe(0)

    await page.getByRole("button", { name: confirmation.confirm }).click()
    const dialog = page.getByRole("dialog", { name: confirmation.dialogTitle("storefront") })
    const submit = dialog.getByRole("button", { name: confirmation.confirm })
    const typed = dialog.getByLabel(vocabulary.en.typeName("storefront"))
    await typed.fill("storefron")
    expect(await submit.isDisabled()).toBe(true)
    await typed.fill("storefront")
    await typed.press("Enter")
    await page.getByText(confirmation.title).waitFor({ state: "detached" })
    await page.getByRole("button", { name: capsuleWords.en.plan, exact: true }).waitFor()
    expect(api.changes.map(({ path }) => path)).toContain("/api/v1/workspaces/ws_0000000000000001/backup-uploads")
    expect(api.changes.at(-1)).toMatchObject({
      path: `/api/v1/capsules/${storefrontId}/import-confirmation`,
      body: { confirm: "storefront" }
    })
    expect(faults).toEqual([])
  })

  test("turning imports off on the server also hides the options to import states and exports", async () => {
    const { go, page } = await suite.visit(undefined, {
      ...newWorld(),
      familiesOff: ["backup-imports", "state-uploads", "exports"]
    })
    const [known] = await Promise.all([
      page.waitForResponse((response) => new URL(response.url()).pathname === "/api/v1/extensions"),
      go(link, "input[type=url]").then(() => page.getByRole("button", { name: "Read the repository" }).click())
    ])
    expect(known.status()).toBe(200)
    await page.getByLabel("Domain").waitFor()
    expect(await page.getByText(importWords.en.title).count()).toBe(0)
    expect(await page.getByText(takeOverWords.en.title).count()).toBe(0)
    await go(`/w/acme/capsules/${storefrontId}/danger`, ".panel-danger")
    await page.waitForLoadState("networkidle")
    expect(await page.getByRole("button", { name: exportWords.en.export }).count()).toBe(0)
  })
})
