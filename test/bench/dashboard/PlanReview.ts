import { Effect } from "effect"
import type { TestBrowser } from "../../browser/support/Browser.ts"
import { worldOfPlan } from "../../browser/support/BigPlan.ts"
import { startDevelopmentApi } from "../../browser/support/DevelopmentApi.ts"
import { reviewRun } from "../../browser/support/records/Runs.ts"
import type { ServedFiles } from "../../browser/support/ServedFiles.ts"
import { type Figure, median } from "../support/Figures.ts"
import { watchTasks } from "./LongestTask.ts"

const rounds = 5
const resources = 400
const task = { atMost: 50 }
const firstRow = { atMost: 500 }

/**
 * Measures a visit to a plan with 400 resources and a one-megabyte policy: the time until the first row, and the time to open the
 * policy.
 */
const visit = (browser: TestBrowser, files: ServedFiles) =>
  Effect.promise(async () => {
    const api = startDevelopmentApi(files, worldOfPlan(resources, true))
    const { page } = await browser.open({ language: "en", theme: "light" })
    try {
      await page.addInitScript(() => {
        const look = () => {
          if (document.querySelector(".change") === null) return
          watch.disconnect()
          requestAnimationFrame(() => setTimeout(() => Reflect.set(globalThis, "__row", performance.now())))
        }
        const watch = new MutationObserver(look)
        watch.observe(document, { childList: true, subtree: true })
      })
      const loading = await watchTasks(page)
      await page.goto(`${api.origin}/w/acme/runs/${reviewRun}`)
      await page.waitForFunction(() => Reflect.has(globalThis, "__row"))
      const loadingTask = await loading()
      const row = await page.evaluate(() => Number(Reflect.get(globalThis, "__row")))
      const opening = await watchTasks(page)
      const policy = page.locator(".change", { hasText: "aws_s3_bucket_policy.large" })
      await policy.locator("summary").first().click()
      await policy.locator(".difference-added").waitFor()
      const openingTask = await opening()
      const all = await watchTasks(page)
      await page.getByRole("button", { name: "Open all" }).click()
      await page.locator(".change .difference-added").nth(20).waitFor()
      return { row, loadingTask, openingTask, allTask: await all() }
    } finally {
      await page.context().close()
      await api.stop()
    }
  })

/** Measures how quickly the page of a large plan responds to a reviewer. */
export const planReview = Effect.fnUntraced(function* (browser: TestBrowser, files: ServedFiles) {
  const visits = yield* Effect.forEach(Array.from({ length: rounds }), () => visit(browser, files))
  const of = (name: keyof (typeof visits)[number]) => median(visits.map((each) => each[name]))
  const longest = (name: string, figure: number): Figure => ({
    name,
    figure,
    unit: "ms",
    target: task,
    detail: "of processor time"
  })
  return [
    { name: "plan of 400 resources and a policy of 1 MB: first row", figure: of("row"), unit: "ms", target: firstRow },
    longest("the same, arriving: longest task", of("loadingTask")),
    longest("the same, its policy compared: longest task", of("openingTask")),
    longest("the same, all rows opened: longest task", of("allTask"))
  ] satisfies ReadonlyArray<Figure>
})
