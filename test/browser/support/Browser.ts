import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Page } from "playwright-core"

export interface Look {
  readonly language: "en" | "ja"
  readonly theme: "light" | "dark"
  readonly width?: number
  readonly height?: number
  /** Accepts the temporary self-signed certificates of test servers. */
  readonly anyCertificate?: boolean
}

export interface OpenPage {
  readonly page: Page
  /** Collects everything that the console reports as a fault: errors, policy violations, failed requests. */
  readonly faults: Array<string>
}

export interface TestBrowser {
  readonly open: (look: Look) => Promise<OpenPage>
  readonly close: () => Promise<void>
}

/** Starts Debian's Chromium, headless, with additional flags and a temporary profile. */
export const startBrowserWith = async (flags: ReadonlyArray<string>): Promise<TestBrowser> => {
  const profile = await mkdtemp(join(tmpdir(), "dashboard-browser-"))
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
      `--crash-dumps-dir=${profile}`,
      ...flags
    ]
  })
  return {
    open: async ({ anyCertificate = false, language, theme, width = 1360, height = 900 }) => {
      const context = await browser.newContext({
        viewport: { width, height },
        locale: language === "ja" ? "ja-JP" : "en-GB",
        colorScheme: theme,
        timezoneId: "Asia/Tokyo",
        ignoreHTTPSErrors: anyCertificate,
        reducedMotion: "reduce"
      })
      const page = await context.newPage()
      const faults: Array<string> = []
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") faults.push(message.text())
      })
      // Also collects violations in the page, because the console does not show report-only or silent violations.
      await page.exposeFunction("__violated", (what: string) => faults.push(`policy: ${what}`))
      await page.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective, sample }) => {
          const tell: unknown = Reflect.get(globalThis, "__violated")
          if (typeof tell === "function") tell(`${effectiveDirective} ${blockedURI} ${sample}`)
        })
      })
      page.on("pageerror", (error) => faults.push(`${error.name}: ${error.message}`))
      // Time after which a test concludes that an event does not happen, far longer than a busy machine needs.
      page.setDefaultTimeout(30_000)
      return { page, faults }
    },
    close: async () => {
      await browser.close()
      await rm(profile, { recursive: true, force: true })
    }
  }
}

export const startBrowser = (): Promise<TestBrowser> => startBrowserWith([])
