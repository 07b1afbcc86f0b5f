import type { Page } from "playwright-core"

/** Work done by the page's main thread during one action. */
export interface Work {
  /** CPU time for scripts, style and layout, in milliseconds. Excludes other load on the machine. */
  readonly cost: number
  readonly layouts: number
}

/** Waits until the page has drawn the effects of the last input. */
export const drawn = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve))))

/** Measures actions on a page, each repeated `times` times and rendered every time. */
export const workMeter = async (page: Page) => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" })
  const counters = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics")
    const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
    return {
      seconds: of("ScriptDuration") + of("LayoutDuration") + of("RecalcStyleDuration"),
      layouts: of("LayoutCount")
    }
  }
  return async (times: number, act: (time: number) => Promise<void> | void): Promise<Work> => {
    await drawn(page)
    const before = await counters()
    for (let time = 0; time < times; time += 1) {
      await act(time)
      await drawn(page)
    }
    const after = await counters()
    return {
      cost: ((after.seconds - before.seconds) * 1000) / times,
      layouts: (after.layouts - before.layouts) / times
    }
  }
}

export type WorkMeter = Awaited<ReturnType<typeof workMeter>>
