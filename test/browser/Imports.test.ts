import { describe, expect, test } from "bun:test"
import { importWords } from "../../src/dashboard/screens/capsule/ImportWords.ts"
import { takeOverWords } from "../../src/dashboard/screens/install/TakeOverWords.ts"
import { installWords } from "../../src/dashboard/screens/install/Words.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { importedFrom, storefrontId } from "./support/records/Capsules.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const link = `/install?git=${encodeURIComponent("https://git.acme.example/infra/platform.git")}&ref=main&path=modules%2Fservice&name=Shop`

/** As the API writes it: what can be read, and then what is sealed. */
const file = {
  name: "shop.backup",
  mimeType: "application/octet-stream",
  buffer: Buffer.from(
    JSON.stringify({
      format: "svc.sealed-backup/v1",
      masterKeyIds: ["mk_0000000000000001"],
      backup: { id: importedFrom.backupId },
      capsules: [
        { capsuleId: "cap_0000000000000099", name: 'the "shop"', generation: 4 },
        { capsuleId: "cap_0000000000000098", name: "other", generation: 1 }
      ],
      dataKeys: [],
      archive: "v1.sealed"
    })
  )
}

describe.each([
  ["en", "light"],
  ["ja", "dark"]
] as const)("a capsule of another svc (%s)", (language, theme) => {
  const words = importWords[language]

  test("is uploaded where states are taken over, once it is said which one", async () => {
    const takeOver = takeOverWords[language]
    const { page, api, faults, go } = await suite.visit({ language, theme })
    await go(link, "input[type=url]")
    await page.getByRole("button", { name: installWords[language].read }).click()
    await page.getByText(takeOver.title).click()
    await page.getByLabel(takeOver.file).setInputFiles(file)
    await page.getByText(takeOver.isBackup).waitFor()
    const upload = page.getByRole("button", { name: takeOver.upload })
    expect(await upload.isDisabled()).toBe(true)
    await page.getByLabel(takeOver.capsule).selectOption({ label: 'the "shop" · cap_0000000000000099' })
    expect(await barriers(page)).toEqual([])
    await upload.press("Enter")
    await page.getByText(takeOver.importedFrom).waitFor()
    const [sent] = api.changes.filter(({ path }) => path.includes("/backup-imports"))
    expect(sent?.path).toContain("backup-imports")
    expect(faults).toEqual([])
  })

  const waiting = () => {
    const world = newWorld()
    world.capsules = world.capsules.map((capsule) =>
      capsule.id === storefrontId ? { ...capsule, status: "disabled", import: { from: importedFrom } } : capsule
    )
    return world
  }

  test("is confirmed by an owner who types its name, by keyboard, and leads to its plan", async () => {
    const { page, api, faults, go } = await suite.visit({ language, theme }, waiting())
    await go(`/w/acme/capsules/${storefrontId}`, ".notice")
    await page.getByText(words.text("shop")).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByRole("button", { name: words.confirm }).press("Enter")
    const dialog = page.getByRole("dialog", { name: words.dialogTitle("storefront") })
    const typed = dialog.getByLabel(vocabulary[language].typeName("storefront"))
    await typed.fill("Storefront")
    await typed.press("Enter")
    expect(api.changes).toEqual([])
    await typed.fill("storefront")
    await typed.press("Enter")
    await page.waitForURL("**/runs/run_*")
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      [`/api/v1/capsules/${storefrontId}/import-confirmation`, { confirm: "storefront" }]
    ])
    expect(faults).toEqual([])
  })
})
