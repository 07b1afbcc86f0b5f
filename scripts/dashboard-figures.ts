// How fast the dashboard is for its reader: `bun scripts/dashboard-figures.ts`. Headless Chromium and the server share this
// machine; every visit starts with an empty cache. Times count from the start of the navigation, in milliseconds.
import { availableParallelism, loadavg } from "node:os"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { startBrowser, type TestBrowser } from "../test/browser/support/Browser.ts"
import { startDevelopmentApi } from "../test/browser/support/DevelopmentApi.ts"
import { compiledBinary } from "../test/browser/support/ServerProcess.ts"
import { servedFiles } from "../test/browser/support/ServedFiles.ts"
import { newWorld } from "../test/browser/support/routes/World.ts"
import { reviewRun } from "../test/browser/support/records/Runs.ts"

const visits = 5
const budget = { paint: 400, usable: 800 }

const visit = async (browser: TestBrowser, address: string, ready: string, language: "en" | "ja") => {
  const { page } = await browser.open({ language, theme: language === "ja" ? "dark" : "light" })
  try {
    await page.goto(address)
    await page.locator(ready).first().waitFor()
    return await page.evaluate(() => ({
      paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      usable: performance.now()
    }))
  } finally {
    await page.context().close()
  }
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

const verdict = (value: number, limit: number): string =>
  `${Math.round(value)} (${value < limit ? "under" : "OVER"} ${limit})`

const program = Effect.gen(function* () {
  if (compiledBinary() === undefined)
    yield* Console.log("bundled from the source; name a binary in SVC_TEST_BINARY for what a release sends")
  const files = yield* servedFiles
  const api = yield* Effect.acquireRelease(
    Effect.sync(() => startDevelopmentApi(files, newWorld())),
    (started) => Effect.promise(() => started.stop())
  )
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const pages = [
    ["run page", `/w/acme/runs/${reviewRun}`, ".decision button"],
    ["home", "/w/acme", ".attention-row"],
    ["sign-in", "/sign-in", "input[type=password]"]
  ] as const
  const [load = 0] = loadavg()
  yield* Console.log(`load ${load.toFixed(1)} on ${availableParallelism()} cores; figures of a busy machine say little`)
  // The first start of the browser is not the reader's.
  yield* Effect.promise(() => visit(browser, `${api.origin}/sign-in`, "input[type=password]", "en"))
  for (const [name, path, ready] of pages) {
    for (const language of ["en", "ja"] as const) {
      const figures = yield* Effect.forEach(Array.from({ length: visits }), () =>
        Effect.promise(() => visit(browser, `${api.origin}${path}`, ready, language))
      )
      const paint = median(figures.map((figure) => figure.paint))
      const usable = median(figures.map((figure) => figure.usable))
      yield* Console.log(
        `${name}, ${language}: first contentful paint ${verdict(paint, budget.paint)}, usable ${verdict(usable, budget.usable)}`
      )
    }
  }
})

NodeRuntime.runMain(Effect.scoped(program))
