import { Effect } from "effect"
import type { TestBrowser } from "../../browser/support/Browser.ts"
import { startDevelopmentApi } from "../../browser/support/DevelopmentApi.ts"
import { reviewRun } from "../../browser/support/records/Runs.ts"
import { newWorld } from "../../browser/support/routes/World.ts"
import type { ServedFiles } from "../../browser/support/ServedFiles.ts"
import { type Figure, median } from "../support/Figures.ts"

const rounds = 7
const paint = { atMost: 400 }
const usable = { atMost: 500 }

const pages = [
  ["run page", `/w/acme/runs/${reviewRun}`, ".decision button"],
  ["home", "/w/acme", ".attention-row"],
  ["sign-in", "/sign-in", "input[type=password]"]
] as const

/**
 * Measures one visit with an empty cache. Times are measured from the start of navigation. A page is usable once it has
 * drawn the first frame with its main content, as the page reports.
 */
const visit = async (browser: TestBrowser, address: string, ready: string, language: "en" | "ja") => {
  const { page } = await browser.open({ language, theme: language === "ja" ? "dark" : "light" })
  try {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send("Performance.enable", { timeDomain: "threadTicks" })
    await page.addInitScript((selector) => {
      const look = () => {
        if (document.querySelector(selector) === null) return
        watch.disconnect()
        requestAnimationFrame(() => setTimeout(() => Reflect.set(globalThis, "__usable", performance.now())))
      }
      const watch = new MutationObserver(look)
      watch.observe(document, { childList: true, subtree: true })
    }, ready)
    await page.goto(address)
    await page.waitForFunction(() => Reflect.has(globalThis, "__usable"))
    const { metrics } = await devtools.send("Performance.getMetrics")
    const times = await page.evaluate(() => ({
      paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      usable: Number(Reflect.get(globalThis, "__usable"))
    }))
    return { ...times, processor: (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000 }
  } finally {
    await page.context().close()
  }
}

/** Measures how long pages take to appear on a first visit, alternating between the languages. */
export const loading = Effect.fnUntraced(function* (browser: TestBrowser, files: ServedFiles) {
  const api = yield* Effect.acquireRelease(
    Effect.sync(() => startDevelopmentApi(files, newWorld())),
    (started) => Effect.promise(() => started.stop())
  )
  const look = (path: string, ready: string, language: "en" | "ja") =>
    Effect.promise(() => visit(browser, `${api.origin}${path}`, ready, language))
  // Starts the browser beforehand, because starting it is not part of a visit.
  yield* look("/sign-in", "input[type=password]", "en")
  const figures: Array<Figure> = []
  for (const [name, path, ready] of pages) {
    const seen: Array<Effect.Success<ReturnType<typeof look>>> = []
    for (let round = 0; round < rounds; round += 1)
      for (const language of ["en", "ja"] as const) seen.push(yield* look(path, ready, language))
    figures.push(
      {
        name: `${name}: first contentful paint`,
        figure: median(seen.map((each) => each.paint)),
        unit: "ms",
        target: paint
      },
      {
        name: `${name}: usable`,
        figure: median(seen.map((each) => each.usable)),
        unit: "ms",
        target: usable,
        detail: `${median(seen.map((each) => each.processor)).toFixed(0)} ms of the page's processor time`
      }
    )
  }
  return figures
}, Effect.scoped)
