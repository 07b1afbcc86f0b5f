import { Effect } from "effect"
import type { Page } from "playwright-core"
import { capsulePage, fillLog, runPage, searchCapsules, useLog, worldOf } from "../../browser/support/BigLists.ts"
import type { TestBrowser } from "../../browser/support/Browser.ts"
import { startDevelopmentApi } from "../../browser/support/DevelopmentApi.ts"
import { newWorld, type World } from "../../browser/support/routes/World.ts"
import type { ServedFiles } from "../../browser/support/ServedFiles.ts"
import { workMeter } from "../../browser/support/Work.ts"
import { type Figure, median, percentile } from "../support/Figures.ts"
import { watchTasks } from "./LongestTask.ts"

const rounds = 3

/** Delays that a reader notices, in milliseconds: the longest task, late frames, and the delay before an input takes effect. */
interface Felt {
  /** CPU time. */
  readonly task: number
  readonly longestTask: number
  readonly lateFrame: number
  readonly slowestInput: number
}

/** Makes the page record the delays that its reader notices, and returns them for each interval. */
const watch = async (page: Page) => {
  await page.evaluate(() => {
    const seen = { tasks: new Array<number>(), inputs: new Array<number>(), frames: new Array<number>() }
    Reflect.set(globalThis, "__felt", seen)
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.tasks.push(duration)
    }).observe({ type: "longtask" })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.inputs.push(duration)
    }).observe(Object.assign({ type: "event" }, { durationThreshold: 16 }))
    let last = performance.now()
    const frame = (at: number) => {
      seen.frames.push(at - last)
      last = at
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })
  const taken = async () => {
    const seen = await page.evaluate(() => {
      const all: unknown = Reflect.get(globalThis, "__felt")
      const take = (name: string): ReadonlyArray<number> => {
        const list: unknown = Reflect.get(Object(all), name)
        return Array.isArray(list) ? list.splice(0).map(Number) : []
      }
      return { tasks: take("tasks"), inputs: take("inputs"), frames: take("frames") }
    })
    return {
      longestTask: Math.max(0, ...seen.tasks),
      lateFrame: percentile(seen.frames, 0.95),
      slowestInput: Math.max(0, ...seen.inputs)
    }
  }
  return async <A>(act: () => Promise<A>): Promise<readonly [A, Felt]> => {
    await taken()
    const tasks = await watchTasks(page)
    const result = await act()
    return [result, { task: await tasks(), ...(await taken()) }]
  }
}

const inPage = <A>(
  browser: TestBrowser,
  files: ServedFiles,
  world: World,
  use: (page: Page, api: ReturnType<typeof startDevelopmentApi>) => Promise<A>
) =>
  Effect.promise(async () => {
    const api = startDevelopmentApi(files, world)
    const { page } = await browser.open({ language: "en", theme: "light" })
    try {
      return await use(page, api)
    } finally {
      await page.context().close()
      await api.stop()
    }
  })

const logRound = (browser: TestBrowser, files: ServedFiles, count: number) =>
  inPage(browser, files, newWorld(), async (page, api) => {
    await page.goto(`${api.origin}${runPage.path}`)
    await page.locator(runPage.ready).first().waitFor()
    const felt = await watch(page)
    const measure = await workMeter(page)
    const [, filling] = await felt(() => fillLog(page, api, count))
    const [work, using] = await felt(() => useLog(page, api, measure, count))
    const rows = await page.locator(".log-line").count()
    return { filling, using, work, rows }
  })

const capsuleRound = (browser: TestBrowser, files: ServedFiles, count: number) =>
  inPage(browser, files, worldOf(count), async (page, api) => {
    await page.goto(`${api.origin}${capsulePage.path}`)
    await page.locator(capsulePage.ready).first().waitFor()
    const felt = await watch(page)
    const measure = await workMeter(page)
    const [work, using] = await felt(() => searchCapsules(page, measure))
    return { work, using }
  })

/** Browsers report tasks longer than this as long tasks, because people notice them. */
const longTask = { atMost: 50 }
/** Two frames, because occasionally missing a frame is acceptable. */
const smooth = { atMost: 34 }
/** The Web Vitals threshold for a good interaction. */
const answered = { atMost: 200 }
const sameCost = { atMost: 3 }

/**
 * Measures the smoothness of a log with 100,000 lines and of a list of 1,000 Capsules, and compares the cost with small lists in
 * the same rounds.
 */
export const smoothness = Effect.fnUntraced(function* (browser: TestBrowser, files: ServedFiles) {
  const logs: Array<{
    readonly small: Effect.Success<ReturnType<typeof logRound>>
    readonly big: Effect.Success<ReturnType<typeof logRound>>
  }> = []
  const lists: Array<{
    readonly small: Effect.Success<ReturnType<typeof capsuleRound>>
    readonly big: Effect.Success<ReturnType<typeof capsuleRound>>
  }> = []
  for (let round = 0; round < rounds; round += 1) {
    logs.push({ small: yield* logRound(browser, files, 1000), big: yield* logRound(browser, files, 100_000) })
    lists.push({ small: yield* capsuleRound(browser, files, 10), big: yield* capsuleRound(browser, files, 1000) })
  }
  const felt = (feeling: "lateFrame" | "slowestInput") => ({
    figure: median(logs.map(({ big }) => big.using[feeling])),
    unit: "ms" as const,
    detail: `${median(logs.map(({ small }) => small.using[feeling])).toFixed(0)} ms with 1,000 lines`
  })
  const longestTask = (rounds: ReadonlyArray<Felt>) => ({
    figure: median(rounds.map(({ task }) => task)),
    unit: "ms" as const,
    target: longTask,
    detail: `of processor time; ${median(rounds.map((each) => each.longestTask)).toFixed(0)} ms by the clock`
  })
  const ratio = (action: "append" | "searched" | "wheel") =>
    median(logs.map(({ big, small }) => big.work[action].cost / small.work[action].cost))
  const figures: ReadonlyArray<Figure> = [
    {
      name: "log of 100,000 lines: rows in the page",
      figure: Math.max(...logs.map(({ big }) => big.rows)),
      unit: "rows",
      target: { atMost: 99 }
    },
    {
      name: "the same, arriving at once: longest task",
      ...longestTask(logs.map(({ big }) => big.filling))
    },
    {
      // Adds 10 lines every frame while the wheel, Home and End, and a search are used.
      name: "the same, in use while it grows: longest task",
      ...longestTask(logs.map(({ big }) => big.using))
    },
    {
      name: "the same: frames, p95",
      ...felt("lateFrame"),
      target: smooth
    },
    {
      name: "the same: slowest answer to an input",
      ...felt("slowestInput"),
      target: answered
    },
    { name: "a screen by wheel, 100,000 lines against 1,000", figure: ratio("wheel"), unit: "x", target: sameCost },
    { name: "10 more lines, 100,000 lines against 1,000", figure: ratio("append"), unit: "x", target: sameCost },
    { name: "the same with a search open", figure: ratio("searched"), unit: "x", target: sameCost },
    {
      name: "search among 1,000 Capsules: longest task",
      ...longestTask(lists.map(({ big }) => big.using))
    },
    {
      name: "the same: slowest answer to a key",
      figure: median(lists.map(({ big }) => big.using.slowestInput)),
      unit: "ms",
      target: answered
    },
    {
      name: "the same: a key's processor time, against 10 Capsules",
      figure: median(lists.map(({ big, small }) => big.work.cost / small.work.cost)),
      unit: "x",
      target: sameCost,
      detail: `${median(lists.map(({ big }) => big.work.cost)).toFixed(1)} ms a key`
    }
  ]
  return figures
})
