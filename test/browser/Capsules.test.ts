import { describe, expect, test } from "bun:test"
import { exportWords } from "../../src/dashboard/screens/capsule/ExportWords.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { baseRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

describe("Capsule list", () => {
  test("the list shows each capsule's newest run, even if other capsules have newer runs", async () => {
    const world = newWorld()
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
    const old = baseRun({
      id: "run_old0000000000000001",
      type: "drift_check",
      status: "failed",
      capsuleId: storefrontId,
      createdAt: at(0),
      queuedAt: at(0)
    })
    // Fills more than one page of the run list with runs of another capsule.
    const since = Array.from({ length: 150 }, (_, index) =>
      baseRun({
        id: `run_new${String(index).padStart(16, "0")}`,
        type: "plan",
        status: "succeeded",
        capsuleId: "cap_0000000000000002",
        createdAt: at(index + 1),
        queuedAt: at(index + 1)
      })
    )
    world.runs = [...since.toReversed(), old]
    const { page, faults, go } = await suite.visit(undefined, world)
    const asked: Array<string> = []
    page.on("request", (request) => asked.push(new URL(request.url()).pathname))
    await go("/w/acme/capsules", ".long-row")
    const row = page.locator(".long-row", { has: page.locator(`a[href$="${storefrontId}"]`) })
    await row.getByText("Failed", { exact: true }).waitFor()
    await row.getByText("Drift check").waitFor()
    expect(await page.locator(".long-row").getByText("None yet", { exact: true }).count()).toBe(6)
    // The list makes one request for all capsules, and requests no pages of runs.
    expect(asked.filter((path) => path.endsWith("/dashboard/latest-runs"))).toHaveLength(1)
    expect(asked.filter((path) => path.endsWith("/runs"))).toEqual([])
    expect(faults).toEqual([])
  })
})

describe("Capsule drift", () => {
  test("a capsule's drift can be reverted by a separate plan, and checked at a chosen interval", async () => {
    const world = newWorld()
    const [capsule, ...others] = world.capsules
    if (capsule === undefined) throw new Error("no capsule")
    world.capsules = [{ ...capsule, driftStatus: "drifted" }, ...others]
    const { page, faults, go } = await suite.visit(undefined, world)
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (request.method() !== "GET") asked.push(`${new URL(request.url()).pathname} ${request.postData() ?? ""}`)
    })
    await go(`/w/acme/capsules/${capsule.id}`, ".notice")
    await page.getByRole("link", { name: "Settings" }).last().click()
    await page.getByLabel("Check for drift").selectOption({ label: "Every day" })
    await page.waitForFunction(() => document.body.textContent?.includes("Saved"))
    await page.goBack()
    await page.getByRole("button", { name: "Put it back" }).click()
    await page.waitForURL(/\/runs\/run_/)
    expect(asked).toEqual([
      `/api/v1/capsules/${capsule.id} {"driftChecks":{"mode":"every","hours":24}}`,
      `/api/v1/capsules/${capsule.id}/reconcile-plan {}`
    ])
    expect(faults).toEqual([])
  })
})

describe("Capsule release", () => {
  test("a capsule is released after its name is typed, and the page then shows the result", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(`/w/acme/capsules/${storefrontId}/danger`, ".panel-danger")
    await page.getByRole("button", { name: "Release capsule" }).click()
    const dialog = page.getByRole("dialog")
    const submit = dialog.getByRole("button", { name: "Release capsule" })
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel("State of its infrastructure").selectOption("moved_elsewhere")
    await dialog.getByLabel("Comment").fill("The platform team runs it now.")
    await dialog.getByLabel("Type storefront to confirm").fill("storefront")
    await submit.click()
    await page.getByText("This capsule was released").waitFor()
    await page.getByText("Somebody else manages its infrastructure.").waitFor()
    expect(await page.getByRole("button", { name: "Plan", exact: true }).count()).toBe(0)
    expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
      [
        `/api/v1/capsules/${storefrontId}/release`,
        { confirm: "storefront", reason: "moved_elsewhere", comment: "The platform team runs it now." }
      ]
    ])
    expect(faults).toEqual([])
  })
})

describe("Capsule export", () => {
  for (const language of ["en", "ja"] as const) {
    test(`a capsule can be exported by keyboard after its name has been typed (${language})`, async () => {
      const words = exportWords[language]
      const { page, api, faults, go } = await suite.visit({ language, theme: "light" })
      await go(`/w/acme/capsules/${storefrontId}/danger`, ".panel-danger")
      await page.getByRole("button", { name: words.export }).focus()
      await page.keyboard.press("Enter")
      const dialog = page.getByRole("dialog", { name: words.dialogTitle("storefront") })
      await dialog.getByText(words.secrets).waitFor()
      const submit = dialog.getByRole("button", { name: words.export })
      const typed = dialog.getByLabel(vocabulary[language].typeName("storefront"))
      await typed.fill("storefron")
      expect(await submit.isDisabled()).toBe(true)
      await typed.press("Enter")
      expect(api.changes).toEqual([])
      await typed.fill("storefront")
      await typed.press("Enter")
      const ready = page.getByRole("dialog", { name: words.readyTitle("storefront") })
      await ready.getByText("admin_password").waitFor()
      await ready.getByText(words.release).waitFor()
      const download = page.waitForEvent("download")
      await ready.getByRole("link", { name: words.download }).press("Enter")
      expect((await download).suggestedFilename()).toBe("svc-export-storefront.tar.gz")
      expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
        [`/api/v1/capsules/${storefrontId}/exports`, { confirm: "storefront" }]
      ])
      expect(faults).toEqual([])
    })
  }

  test("a capsule can still be exported after its release", async () => {
    const world = newWorld()
    world.capsules = world.capsules.map((capsule) =>
      capsule.id === storefrontId
        ? { ...capsule, status: "released", release: { at: new Date().toISOString(), reason: "moved_elsewhere" } }
        : capsule
    )
    const { page, go } = await suite.visit(undefined, world)
    await go(`/w/acme/capsules/${storefrontId}/danger`, ".notice")
    await page.getByRole("button", { name: exportWords.en.export }).waitFor()
  })
})

describe("Failed checks", () => {
  test("a capsule whose check failed can be re-adopted with a reason, and the form shows a refusal", async () => {
    const world = newWorld()
    const [capsule, ...others] = world.capsules
    if (capsule === undefined) throw new Error("no capsule")
    world.capsules = [{ ...capsule, status: "error", runtimeSafety: "unknown" }, ...others]
    const checked = baseRun({
      id: "run_check000000000000001",
      type: "apply",
      status: "failed",
      capsuleId: capsule.id,
      error: { code: "lifecycle_failed", message: "The check health after this apply failed." }
    })
    world.runs = [checked, ...world.runs.filter(({ capsuleId }) => capsuleId !== capsule.id)]
    const { page, api, faults, go } = await suite.visit(undefined, world)
    await go(`/w/acme/capsules/${capsule.id}`, ".notice")
    await page.getByText("Only a check after the apply failed").waitFor()
    await page.getByRole("button", { name: "Re-adopt…" }).press("Enter")
    const dialog = page.getByRole("dialog")
    const submit = dialog.getByRole("button", { name: "Re-adopt", exact: true })
    await submit.press("Enter")
    await dialog.getByText("This needs a value.").waitFor()
    expect(api.changes).toEqual([])
    await dialog.getByLabel("Reason").fill("The check asked the wrong path.")
    await dialog.getByLabel("Snapshot").selectOption("snap_0000000000000002")
    const moved = world.capsules[0]
    if (moved === undefined) throw new Error("no capsule")
    world.capsules[0] = { ...moved, installConfigReAdoption: { authorityGuard: "guard-2" } }
    const again = page.waitForResponse((answer) => answer.url().endsWith(`/api/v1/capsules/${capsule.id}`))
    await submit.press("Enter")
    await dialog.getByText("The Capsule has changed since its guard was read.").waitFor()
    await again
    await dialog.getByLabel("Enter the inputs again").check()
    await dialog.getByLabel("domain").fill("shop.example")
    await submit.press("Enter")
    await page.getByText("The capsule was re-adopted. Plan it next.").waitFor()
    await dialog.waitFor({ state: "detached" })
    const body = {
      baseInstallConfigId: capsule.installConfigId,
      sourceSnapshotId: "snap_0000000000000002",
      reason: "The check asked the wrong path."
    }
    expect(api.changes.map((change) => change.body)).toEqual([
      { ...body, expected: { authorityGuard: "guard-1" } },
      { ...body, reviewedUserVariables: { domain: "shop.example" }, expected: { authorityGuard: "guard-2" } }
    ])
    // The browser itself logs the refusal.
    expect(faults.filter((fault) => !fault.includes("409"))).toEqual([])
  })
})
