import { NodeServices } from "@effect/platform-node"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"
import { buildDocs } from "../../scripts/DocsBuild.ts"
import { TestApplication } from "../src/http/support/TestApplication.ts"
import { suite } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { darkJapanese, lightEnglish } from "./support/Suite.ts"

setDefaultTimeout(240_000)

const root = fileURLToPath(new URL("../..", import.meta.url))
const tests = suite(Layer.merge(TestApplication.layer, NodeServices.layer))
afterAll(tests.dispose)

const browser = Effect.acquireRelease(Effect.promise(startBrowser), ({ close }) => Effect.promise(close))

/** Serves the pages that the build has made, by the routes of a server. */
const server = Effect.gen(function* () {
  yield* buildDocs(root)
  const { handler } = yield* TestApplication
  return yield* Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => handler(request) })),
    (one) => Effect.promise(() => one.stop(true))
  )
})

describe("Documentation in a browser", () => {
  tests.live(
    "a reader finds a page by the search, follows links and changes the colours, and no policy is violated",
    () =>
      Effect.gen(function* () {
        const { url } = yield* server
        const { open } = yield* browser
        for (const look of [lightEnglish, darkJapanese]) {
          yield* Effect.promise(async () => {
            const { faults, page } = await open(look)
            await page.goto(`${url}docs`)
            const isDark = () => page.evaluate(() => document.documentElement.classList.contains("dark"))
            expect(await isDark()).toBe(look.theme === "dark")
            await page.screenshot({ path: `${root}screenshots/docs-first-${look.theme}.png` })
            await page.getByRole("button", { name: "Search" }).click()
            await page.getByRole("searchbox").fill("master key")
            await page.locator(".results .result").first().waitFor()
            // The detailed list shows the found page's own text.
            await page.getByTitle("Display detailed list").click()
            await page.locator(".results .excerpt").first().waitFor()
            await page.locator(".results .result").first().click()
            await page.locator(".vp-doc h1").waitFor()
            await page.locator(".VPSidebar a", { hasText: "Quickstart" }).click()
            await page.getByRole("heading", { level: 1, name: "Quickstart" }).waitFor()
            const colour = await page
              .locator(".vp-doc .code-light__032F62")
              .first()
              .evaluate((piece) => getComputedStyle(piece).color)
            expect(colour).toBe(look.theme === "dark" ? "rgb(158, 203, 255)" : "rgb(3, 47, 98)")
            await page.screenshot({ path: `${root}screenshots/docs-page-${look.theme}.png` })
            await page.locator(".VPNavBarAppearance .VPSwitchAppearance").click()
            expect(await isDark()).toBe(look.theme !== "dark")
            await page.goto(`${url}docs/nothing`)
            await page.getByText("PAGE NOT FOUND").waitFor()
            // The browser itself reports the status of the missing page.
            expect(faults.filter((fault) => !fault.includes("404 (Not Found)"))).toEqual([])
          })
        }
      })
  )
})
