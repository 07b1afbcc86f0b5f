import { describe, expect, test } from "bun:test"
import { runListWords } from "../../src/dashboard/screens/runs/RunListWords.ts"
import { paletteWords } from "../../src/dashboard/app/PaletteWords.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { driftWords } from "../../src/dashboard/ui/DriftWords.ts"
import { applyRun, reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const { en: words } = runListWords
const { en: palette } = paletteWords
const rows = "[data-run-row]"

describe("Run list", () => {
  test("the list of runs keeps its filters in the address when reloading, going back and following links", async () => {
    const { faults, go, page } = await suite.visit()
    await go("/w/acme/runs", rows)
    const all = await page.locator(rows).count()
    await page.getByRole("button", { name: words.waiting }).click()
    await page.waitForURL(/status=waiting_approval/)
    await page.waitForFunction(
      ([selector, before]) => document.querySelectorAll(String(selector)).length < Number(before),
      [rows, all] as const
    )
    const waiting = await page.locator(rows).count()
    expect(waiting).toBeGreaterThan(0)
    await page.reload()
    await page.locator(rows).first().waitFor()
    expect(await page.locator(rows).count()).toBe(waiting)
    expect(await page.getByRole("button", { name: words.waiting }).getAttribute("aria-pressed")).toBe("true")
    await page.goBack()
    await page.waitForURL((url) => !url.search.includes("status"))
    await page.waitForFunction(
      ([selector, before]) => document.querySelectorAll(String(selector)).length === Number(before),
      [rows, all] as const
    )
    expect(faults).toEqual([])
  })

  test.each([1440, 900])(
    "the fields for the first and last day of the list are on one line at %d px",
    async (width) => {
      const { go, page } = await suite.visit({ language: "en", theme: "light", width, height: 900 })
      await go("/w/acme/runs", rows)
      const tops = await page
        .locator(".run-facets input[type=date]")
        .evaluateAll((inputs) => inputs.map((input) => input.getBoundingClientRect().top))
      expect(tops).toHaveLength(2)
      expect(new Set(tops).size).toBe(1)
    }
  )

  test("the list of runs shows a name on every row, even for a Source that has been removed", async () => {
    const world = newWorld()
    const [template] = world.runs
    const [source] = world.sources
    if (template === undefined || source === undefined) throw new Error("no runs")
    const gone = { ...source, id: "src_0000000000000099", url: "https://git.acme.example/infra/mistyped.git" }
    world.removedSources = [{ ...gone, removedAt: new Date().toISOString() }]
    const { capsuleId: _none, sourceSnapshotId: _unfolded, ...plain } = template
    const sync = { ...plain, type: "source_sync" as const, status: "failed" as const }
    world.runs = [
      { ...sync, id: "run_sync000000000001", sourceId: gone.id },
      { ...sync, id: "run_sync000000000002", sourceId: source.id },
      ...world.runs
    ]
    const { faults, go, page } = await suite.visit(undefined, world)
    for (const [path, ready] of [
      ["/w/acme/runs", rows],
      ["/w/acme", ".row-run"]
    ] as const) {
      await go(path, ready)
      const named = page.locator(ready, { hasText: vocabulary.en.runType.source_sync })
      await named.locator("strong", { hasText: "git.acme.example/infra/mistyped" }).waitFor()
      await named.locator("strong", { hasText: "git.acme.example/infra/platform" }).waitFor()
    }
    expect(faults).toEqual([])
  })

  test("the list of runs can be searched by words and ids, and reports when nothing matches", async () => {
    const { faults, go, page } = await suite.visit()
    await go("/w/acme/runs", rows)
    await page.keyboard.press("/")
    await page.keyboard.type(reviewRun.slice(0, 16))
    await page.waitForURL(/q=run_/)
    await page.locator(`a[href$="${reviewRun}"]`).waitFor()
    await page.getByRole("searchbox").fill("nothing-is-called-so")
    await page.getByRole("heading", { name: words.noMatchTitle }).waitFor()
    await page.getByRole("button", { name: words.clear }).first().click()
    await page.locator(rows).first().waitFor()
    expect(new URL(page.url()).search).toBe("")
    expect(faults).toEqual([])
  })

  test("a run that found drift is not shown as a success, and rows can be opened by keyboard", async () => {
    const { faults, go, page } = await suite.visit()
    await go("/w/acme/runs", rows)
    await page.getByText(driftWords.en.found).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/runs\/run_/)
    expect(faults).toEqual([])
  })

  test("the palette shows an approved plan as approved, not as succeeded", async () => {
    const { page, go } = await suite.visit()
    const approved = newWorld().runs.find(({ approvedAt, type }) => type === "plan" && approvedAt !== undefined)
    if (approved === undefined) throw new Error("No approved plan.")
    await go("/w/acme", ".attention-row")
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill(approved.id)
    const option = page.getByRole("option", { name: approved.id.slice(0, 12) })
    await option.waitFor()
    expect(await option.innerText()).toContain(vocabulary.en.planApproved)
  })

  test("the palette finds a run by its id, and reports when an id is unknown", async () => {
    const { faults, go, page } = await suite.visit()
    await go("/w/acme", "h1")
    await page.keyboard.press("Control+k")
    const field = page.getByRole("combobox")
    await field.fill(applyRun)
    await page.getByRole("option").filter({ hasText: "Apply" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(applyRun))
    await page.keyboard.press("Control+k")
    await field.fill("run_zzzzzzzzzz")
    await page.getByText(palette.unknownId).waitFor()
    expect(faults).toEqual([])
  })
})
