import type { Page } from "playwright-core"
import type { DevelopmentApi } from "./DevelopmentApi.ts"
import { applyRun } from "./records/Runs.ts"
import { newWorld, type World } from "./routes/World.ts"
import { drawn, type WorkMeter } from "./Work.ts"

/** Returns a world whose Workspace has with this many Capsules, named `service-0` onwards. */
export const worldOf = (capsules: number): World => {
  const world = newWorld()
  const template = world.capsules[0]
  if (template === undefined) throw new Error("No capsule.")
  world.capsules = Array.from({ length: capsules }, (_, index) => ({
    ...template,
    id: `cap_many${String(index).padStart(12, "0")}`,
    name: `service-${index}`
  }))
  return world
}

const textOf = (number: number): string =>
  `line ${number} \u001b[1mmodule.network.aws_instance.web[${number}]\u001b[0m: Still creating... [10s elapsed]`

/** Returns log lines, numbered from `from`. */
export const linesOf = (from: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => textOf(from + index))

export const runPage = { path: `/w/acme/runs/${applyRun}`, ready: ".log-line" }
export const capsulePage = { path: "/w/acme/capsules", ready: ".long-row" }

/** Fills the log on an open Run page and waits until the newest line is drawn. */
export const fillLog = async (page: Page, api: DevelopmentApi, count: number): Promise<void> => {
  api.emitLog(applyRun, linesOf(1, count))
  await page.locator(".log-line", { hasText: `line ${count} ` }).waitFor()
}

/** Types a Capsule search key by key, then clears it. */
export const searchCapsules = async (page: Page, measure: WorkMeter) => {
  const text = "service-7"
  await page.getByLabel(/Search name/).focus()
  return measure(text.length * 2, (time) => page.keyboard.press(text[time] ?? "Backspace"))
}

/** Waits until the log stops moving. Keys start a smooth scroll, which would otherwise continue into the next action. */
const settled = (page: Page) =>
  page.locator(".log").evaluate(
    (log) =>
      new Promise<void>((resolve) => {
        let at = log.scrollTop
        let still = 0
        const look = () => {
          still = log.scrollTop === at ? still + 1 : 0
          at = log.scrollTop
          if (still >= 10) resolve()
          else requestAnimationFrame(look)
        }
        requestAnimationFrame(look)
      })
  )

export interface LogWork {
  readonly wheel: Awaited<ReturnType<WorkMeter>>
  readonly append: Awaited<ReturnType<WorkMeter>>
  readonly ends: Awaited<ReturnType<WorkMeter>>
  readonly searched: Awaited<ReturnType<WorkMeter>>
}

/**
 * Performs a reader's actions on a log of `count` lines while it grows: scrolling with the wheel, jumping from end to end, and
 * keeping a search open.
 */
export const useLog = async (page: Page, api: DevelopmentApi, measure: WorkMeter, count: number): Promise<LogWork> => {
  let last = count
  const grow = () => {
    api.emitLog(applyRun, linesOf(last + 1, 10))
    last += 10
  }
  const append = await measure(20, grow)
  await page.locator(".log").hover()
  const wheel = await measure(20, async () => {
    grow()
    await page.mouse.wheel(0, -600)
  })
  await page.locator(".log").focus()
  const ends = await measure(6, (time) => page.keyboard.press(time % 2 === 0 ? "Home" : "End"))
  await settled(page)
  await page.getByLabel("Search the log").fill("web[77]")
  await page.locator(".log-wanted").first().waitFor()
  await drawn(page)
  const searched = await measure(20, grow)
  return { wheel, append, ends, searched }
}
