// `npm run test:pictures`: compares ten key screens with their approved pictures, pixel by pixel. `SVC_PICTURES=update npm run
// test:pictures` stores the current pictures: look at each before you commit it. Needs Chromium and Noto CJK, as the browser
// suite does.
import { pictureTime } from "./support/FixedTime.ts"
import { afterAll, beforeAll, describe, expect, setSystemTime, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { type Look, startBrowserWith, type TestBrowser } from "../browser/support/Browser.ts"
import { startDevelopmentApi } from "../browser/support/DevelopmentApi.ts"
import { largeGraph } from "../browser/support/LargeGraph.ts"
import { newWorld } from "../browser/support/routes/World.ts"
import { screens } from "../browser/support/Screens.ts"
import { type ServedFiles, servedFiles } from "../browser/support/ServedFiles.ts"
import { compare, store } from "./support/Comparison.ts"

const wide = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }
const light: Look = { language: "en", theme: "light", ...wide }
const dark: Look = { language: "en", theme: "dark", ...wide }
const darkJapanese: Look = { language: "ja", theme: "dark", ...wide }

/** The name of a picture, its screen and how it is viewed. */
const pictures: ReadonlyArray<readonly [string, string, Look]> = [
  ["home", "home", light],
  ["home-ja-dark", "home", darkJapanese],
  ["run-review", "run-review", light],
  ["run-review-ja-dark-phone", "run-review", { ...darkJapanese, ...phone }],
  ["run-applied", "run-applied", light],
  ["run-failed-dark", "run-failed", dark],
  ["capsule", "capsule", light],
  ["runs-ja-dark", "runs", darkJapanese],
  ["graph", "graph", light],
  ["activity-phone", "activity", { ...light, ...phone }]
]

const updates = process.env["SVC_PICTURES"] === "update"

/** Renders the same glyphs and colours on every machine. */
const plainRendering = [
  "--lang=en-US",
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--force-color-profile=srgb",
  "--hide-scrollbars"
]

const life = Scope.makeUnsafe()
let files: ServedFiles
let browser: TestBrowser

beforeAll(async () => {
  files = await Effect.runPromise(servedFiles.pipe(Scope.provide(life)))
  browser = await startBrowserWith(plainRendering)
})

afterAll(async () => {
  await browser.close()
  await Effect.runPromise(Scope.close(life, Exit.void))
  setSystemTime()
})

const take = async (name: string, look: Look): Promise<Uint8Array> => {
  const screen = screens.find((each) => each.name === name)
  if (screen === undefined) throw new Error(`No screen ${name}.`)
  const api = startDevelopmentApi(files, { ...newWorld(), graph: largeGraph(300) })
  const { page } = await browser.open(look)
  try {
    await page.clock.setFixedTime(pictureTime)
    await page.goto(`${api.origin}${screen.path}`)
    await page.locator(screen.ready).first().waitFor()
    await page.waitForLoadState("networkidle")
    await page.evaluate(() => document.fonts.ready)
    return await page.screenshot({ animations: "disabled", caret: "hide" })
  } finally {
    await page.context().close()
    await api.stop()
  }
}

describe("the picture", () => {
  test.each(pictures)("the screen %s matches the stored picture", async (name, screen, look) => {
    const found = await take(screen, look)
    if (updates) await store(name, found)
    else expect(await compare(name, found)).toBeUndefined()
  })
})
