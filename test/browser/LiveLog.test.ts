import { describe, expect, test } from "bun:test"
import { applyRun } from "./support/records/Runs.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

const lines = (from: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`)

describe("Live log", () => {
  test("after an outage, the live log resumes where it stopped, without gaps or repetitions", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    api.emitLog(applyRun, lines(1, 50))
    await page.getByText("line 50", { exact: true }).waitFor()
    api.refuseSockets = true
    api.cutSockets()
    await page.getByText("Connection lost. It resumes automatically.").waitFor()
    api.emitLog(applyRun, lines(51, 50))
    api.refuseSockets = false
    await page.getByText("line 100", { exact: true }).waitFor()
    const download = page.waitForEvent("download")
    await page.getByRole("button", { name: "Download" }).click()
    const saved = await Bun.file(await (await download).path()).text()
    expect([...saved.matchAll(/line (\d+)$/gm)].map((match) => Number(match[1]))).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1)
    )
    const afters = api.opened.filter(({ kind }) => kind === "logs").map(({ after }) => after)
    expect(afters.at(0)).toBe(0)
    expect(afters.at(-1)).toBeGreaterThanOrEqual(50)
  })

  test("the live log renders fewer than a hundred of its hundred thousand lines, and follows the newest line", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    api.emitLog(applyRun, lines(1, 100_000))
    await page.getByText("line 100000", { exact: true }).waitFor()
    expect(await page.locator(".log-line").count()).toBeLessThan(100)
    await page.locator(".log").evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }))
    await page.getByText("line 50000", { exact: true }).waitFor({ state: "attached" })
    expect(await page.locator(".log-line").count()).toBeLessThan(100)
    expect(faults).toEqual([])
  })

  test("the live log stops following only when the reader scrolls up, and a click returns to the newest line", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    const log = page.locator(".log")
    api.emitLog(applyRun, lines(1, 500))
    await page.getByText("line 500", { exact: true }).waitFor()
    expect(await log.getAttribute("data-following")).toBe("true")
    await log.hover()
    await page.mouse.wheel(0, -600)
    await page.getByRole("button", { name: "Jump to latest" }).waitFor()
    const top = await log.evaluate((element) => element.scrollTop)
    api.emitLog(applyRun, lines(501, 500))
    await page
      .getByText(/^Live$/)
      .first()
      .waitFor()
    await page.waitForFunction((height) => (document.querySelector(".log")?.scrollHeight ?? 0) > height, 1000 * 20)
    expect(await log.evaluate((element) => element.scrollTop)).toBe(top)
    await page.getByRole("button", { name: "Jump to latest" }).click()
    await page.getByText("line 1000", { exact: true }).waitFor()
    expect(await log.getAttribute("data-following")).toBe("true")
  })

  test("the live log can be searched, and Enter moves from match to match", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    api.emitLog(applyRun, [...lines(1, 2000), "needle one", ...lines(2001, 2000), "needle two"])
    await page.getByText("needle two", { exact: true }).waitFor()
    await page.getByLabel("Search the log").fill("NEEDLE")
    await page.getByText("1 of 2", { exact: true }).waitFor()
    await page.locator(".log-wanted", { hasText: "needle one" }).waitFor()
    await page.getByLabel("Search the log").press("Enter")
    await page.locator(".log-wanted", { hasText: "needle two" }).waitFor()
  })

  test("the live log shows resources as they finish", async () => {
    const { page, api, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".resource")
    api.emitEvent(applyRun, {
      kind: "resource.completed",
      data: { address: "aws_lb_listener_rule.green", action: "create" }
    })
    await page.getByText("2 of 2 done").first().waitFor()
  })
})
