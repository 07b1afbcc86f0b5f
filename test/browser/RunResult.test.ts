import { describe, expect, test } from "bun:test"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { diagnosisWords } from "../../src/dashboard/screens/run/DiagnosisWords.ts"
import { resultWords } from "../../src/dashboard/screens/run/ResultWords.ts"
import { doneRun, failedRun } from "./support/records/Runs.ts"
import { browserSuite, darkJapanese } from "./support/Suite.ts"

const suite = browserSuite()
const { en, ja } = resultWords

describe("Successful applies", () => {
  test("a successful apply shows its changes, duration, approver and the module's outputs", async () => {
    const { page, faults, go } = await suite.visit()
    await go(`/w/acme/runs/${doneRun}`, ".result-outputs")
    const result = page.locator(".result")
    await result.getByRole("heading", { name: /Applied\. storefront runs .* in production\./ }).waitFor()
    expect(await result.locator(".result-counts li").allTextContents()).toEqual([`2 ${en.done.create}`])
    const story = (await result.locator(".result-story").textContent()) ?? ""
    for (const part of ["2 min 30 s", en.generation(2, 3), "Window confirmed with the data team."])
      expect(story).toContain(part)
    await result.getByText(en.outputsChanged(2, 4)).waitFor()
    expect(await result.locator(".result-outputs dt").allTextContents()).toEqual([
      `url${en.changed}`,
      `bucket${en.created}`,
      "script",
      "subnets",
      `admin_password${en.created}`
    ])
    await result
      .locator(".outputs > div", { hasText: "admin_password" })
      .getByText(capsuleWords.en.outputHidden)
      .waitFor()
    expect(await result.getByRole("link", { name: en.openAddress("shop.acme.example") }).getAttribute("href")).toBe(
      "https://shop.acme.example/"
    )
    await result.getByRole("link", { name: en.openPlan }).click()
    await page.getByRole("heading", { level: 1, name: "Plan · storefront" }).waitFor()
    expect(faults).toEqual([])
  })

  test("a successful apply whose state has since been replaced shows no outputs from another apply", async () => {
    const { page, api, go } = await suite.visit()
    api.world.runs = api.world.runs.map((run) =>
      run.id === doneRun ? { ...run, stateVersionId: "sv_0000000000000002" } : run
    )
    await go(`/w/acme/runs/${doneRun}`, ".result")
    await page.getByText(en.outputsLater).waitFor()
    expect(await page.locator(".result-outputs").count()).toBe(0)
  })

  test("a successful apply is shown in Japanese on a phone", async () => {
    const { page, go } = await suite.visit({ ...darkJapanese, width: 390, height: 844 })
    await go(`/w/acme/runs/${doneRun}`, ".result-outputs")
    await page.getByText(ja.outputsChanged(2, 4)).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  })
})

describe("Failed applies", () => {
  test("a failed apply shows which changes completed and which never started, and its error in the log", async () => {
    const { page, api, go } = await suite.visit()
    // As on the server, the partial apply's state has been saved, and the Capsule needs a new plan based on that state.
    api.world.runs = api.world.runs.map((run) =>
      run.id === failedRun
        ? {
            ...run,
            possiblyCreated: [],
            error: { code: "apply_failed", message: "The tool reported that the apply failed." }
          }
        : run
    )
    await go(`/w/acme/runs/${failedRun}`, ".resource-failed")
    await page.getByText(diagnosisWords.en.partialCount(1, 2)).waitFor()
    expect(await page.getByText(diagnosisWords.en.unsafeTitle).count()).toBe(0)
    expect(await page.locator(".step-failed .step-name").allTextContents()).toEqual(["Apply"])
    const link = page.getByRole("link", { name: diagnosisWords.en.inLog }).first()
    // Every click scrolls to the error, not just the first click.
    for (const _press of [1, 2]) {
      await page.evaluate(() => window.scrollTo(0, 0))
      await link.click()
      await page.waitForFunction(() => {
        const box = document.querySelector(".log-wanted")?.getBoundingClientRect()
        return box !== undefined && box.top >= 0 && box.bottom <= window.innerHeight
      })
    }
    expect(new URL(page.url()).hash).toMatch(/^#L\d+$/)
    expect(api.changes).toEqual([])
  })

  test("a failed apply without evidence of its result reports that the result is uncertain", async () => {
    const { page, api, go } = await suite.visit()
    const ended = { code: "apply_interrupted", message: "The service ended while this apply was running." }
    api.world.runs = api.world.runs.map((run) => (run.id === failedRun ? { ...run, error: ended } : run))
    await go(`/w/acme/runs/${failedRun}`, ".resource-failed")
    await page.getByText(diagnosisWords.en.unsafeTitle).waitFor()
    expect(await page.getByText(diagnosisWords.en.partialTitle).count()).toBe(0)
  })
})
