import { describe, expect, test } from "bun:test"
import { applyRun } from "./support/records/Runs.ts"
import { browserSuite, darkJapanese } from "./support/Suite.ts"
import { logWords } from "../../src/dashboard/screens/run/LogWords.ts"

const suite = browserSuite()

const lines = (from: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`)

const failing = [
  ...lines(1, 300),
  "Error: Invalid value for variable",
  "  on main.tf line 3",
  ...lines(302, 300),
  "Warning: Deprecated attribute",
  ...lines(603, 300),
  "Error: creating Bucket: AccessDenied",
  "  with aws_s3_bucket.logs",
  ...lines(905, 300)
]

describe("Run log", () => {
  test("the button and the E key move from error to error in a Run's log, and the log can show only problems", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    api.emitLog(applyRun, failing)
    await page.getByText("line 1204", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Errors: 2" }).click()
    await page.locator(".log-wanted", { hasText: "Invalid value for variable" }).waitFor()
    await page.getByRole("button", { name: "Error 1 of 2" }).waitFor()
    await page.keyboard.press("e")
    await page.locator(".log-wanted", { hasText: "AccessDenied" }).waitFor()
    await page.keyboard.press("e")
    await page.getByRole("button", { name: "Error 1 of 2" }).waitFor()
    await page.getByRole("button", { name: "Problems", exact: true }).click()
    await page.getByText("line 1204", { exact: true }).waitFor({ state: "detached" })
    expect(await page.locator(".log-text").allTextContents()).toEqual([
      "Error: Invalid value for variable",
      "  on main.tf line 3",
      "Warning: Deprecated attribute",
      "Error: creating Bucket: AccessDenied",
      "  with aws_s3_bucket.logs"
    ])
    expect(faults).toEqual([])
  })

  test("selecting lines of a Run's log adds them to the address, and opening that address selects the lines again", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    api.emitLog(applyRun, lines(1, 400))
    await page.getByText("line 400", { exact: true }).waitFor()
    await page.locator(".log-number", { hasText: /^398$/ }).click()
    expect(new URL(page.url()).hash).toBe("#L398")
    await page.locator(".log-number", { hasText: /^396$/ }).click({ modifiers: ["Shift"] })
    expect(new URL(page.url()).hash).toBe("#L396-L398")
    expect(await page.locator(".log-linked").count()).toBe(3)
    await go(`/w/acme/runs/${applyRun}#L100-L101`, ".log-linked")
    expect(await page.locator(".log-linked .log-number").allTextContents()).toEqual(["100", "101"])
    expect(await page.locator(".log").getAttribute("data-following")).toBe("false")
  })

  test("a Run's log wraps long lines on request, keeps the rows of a line together, and remembers the choice", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    const long = Array.from({ length: 90 }, (_, index) => `word${index}`).join(" ")
    api.emitLog(applyRun, [long, "line 2"])
    await page.getByText("line 2", { exact: true }).waitFor()
    const log = page.locator(".log")
    const isSideways = () => log.evaluate((element) => element.scrollWidth > element.clientWidth)
    expect(await isSideways()).toBe(false)
    // A character is about eight pixels wide, so one of these widths is the tightest fit for the rows. The widths decrease,
    // so that rows still wrapped for a wider frame would not fit.
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
    for (let narrower = 1; narrower <= 8; narrower++) {
      await page.setViewportSize({ width: width - narrower, height })
      await page.waitForFunction(() => {
        const element = document.querySelector(".log")
        return element !== null && element.scrollWidth <= element.clientWidth
      })
    }
    const rows = await page.locator(".log-text").allTextContents()
    expect(rows.slice(0, -1).join("")).toEndWith(long)
    await page.getByRole("button", { name: "Wrap", exact: true }).click()
    await page.getByText(long, { exact: true }).waitFor()
    expect(await isSideways()).toBe(true)
    await page.reload()
    await page.getByRole("button", { name: "Wrap", exact: true, pressed: false }).waitFor()
  })

  test("a Run's log reports in Japanese on a phone that there are no problems", async () => {
    const { page, api, go } = await suite.visit({ ...darkJapanese, width: 390, height: 844 })
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    api.emitLog(applyRun, lines(1, 3))
    await page.getByRole("button", { name: logWords.ja.problems, exact: true }).click()
    await page.getByText(logWords.ja.noProblems).waitFor()
  })
})
