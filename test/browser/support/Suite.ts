import { afterAll, afterEach, beforeAll } from "bun:test"
import { AxeBuilder } from "@axe-core/playwright"
import { Effect, Exit, Scope } from "effect"
import type { Page } from "playwright-core"
import { type Look, type OpenPage, startBrowser, type TestBrowser } from "./Browser.ts"
import { type DevelopmentApi, startDevelopmentApi } from "./DevelopmentApi.ts"
import { type ServedFiles, servedFiles } from "./ServedFiles.ts"
import { newWorld, type World } from "./routes/World.ts"

export const lightEnglish: Look = { language: "en", theme: "light" }
export const darkJapanese: Look = { language: "ja", theme: "dark" }
export const phone: Look = { language: "en", theme: "light", width: 390, height: 844 }

interface Parts {
  readonly browser: TestBrowser
  readonly files: ServedFiles
  readonly opened: Array<OpenPage>
  readonly servers: Array<DevelopmentApi>
}

export interface Visit extends OpenPage {
  readonly api: DevelopmentApi
  readonly go: (path: string, ready?: string) => Promise<void>
}

/**
 * Starts one browser per test file. Each visit has a separate server and context. The browser, servers and contexts are
 * removed at the end.
 */
export const browserSuite = () => {
  const life = Scope.makeUnsafe()
  let parts: Parts | undefined
  beforeAll(async () => {
    const files = await Effect.runPromise(servedFiles.pipe(Scope.provide(life)))
    parts = { browser: await startBrowser(), files, opened: [], servers: [] }
  })
  afterEach(async () => {
    for (const { page } of parts?.opened.splice(0) ?? []) await page.context().close()
    for (const server of parts?.servers.splice(0) ?? []) await server.stop()
  })
  afterAll(async () => {
    await parts?.browser.close()
    await Effect.runPromise(Scope.close(life, Exit.void))
  })
  return {
    visit: async (look: Look = lightEnglish, world: World = newWorld()): Promise<Visit> => {
      if (parts === undefined) throw new Error("The browser is not started.")
      const api = startDevelopmentApi(parts.files, world)
      parts.servers.push(api)
      const opened = await parts.browser.open(look)
      parts.opened.push(opened)
      return {
        ...opened,
        api,
        go: async (path, ready) => {
          await opened.page.goto(`${api.origin}${path}`)
          if (ready !== undefined) await opened.page.locator(ready).first().waitFor()
        }
      }
    }
  }
}

/**
 * Returns all axe violations on the page under the default rules, with the rule and the elements. Excludes focus guards around an
 * open menu, because such a guard immediately passes the focus on.
 */
export const barriers = async (page: Page): Promise<ReadonlyArray<string>> => {
  // The pages have no frames, so axe needs no second page to collect results from frames.
  const axe = new AxeBuilder({ page }).setLegacyMode(true).exclude("[data-base-ui-focus-guard]")
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`)
}
