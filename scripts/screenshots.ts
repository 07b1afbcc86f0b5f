// Takes screenshots of every screen for review and writes them to `screenshots/`: in English with the light theme, in
// Japanese with the dark theme, and at phone width. Uses the source, or the binary given by `SVC_TEST_BINARY`. `bun
// scripts/screenshots.ts [look,...] [screen,...]`, for example `bun scripts/screenshots.ts ja run-review,home`.
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { type Look, startBrowser } from "../test/browser/support/Browser.ts"
import { startDevelopmentApi } from "../test/browser/support/DevelopmentApi.ts"
import { servedFiles } from "../test/browser/support/ServedFiles.ts"
import { newWorld } from "../test/browser/support/routes/World.ts"
import { reviewRun } from "../test/browser/support/records/Runs.ts"
import { screens } from "../test/browser/support/Screens.ts"

const folder = join(import.meta.dir, "..", "screenshots")

const looks: Readonly<Record<string, Look>> = {
  en: { language: "en", theme: "light" },
  ja: { language: "ja", theme: "dark" },
  phone: { language: "en", theme: "light", width: 390, height: 844 }
}

interface Picture {
  readonly name: string
  readonly path: string
  readonly ready: string
  readonly act?: (page: Page) => Promise<void>
}

const readRepository = async (page: Page): Promise<void> => {
  await page.locator("input[type=url]").fill("https://git.acme.example/infra/platform.git")
  await page.locator(".install-step button[type=submit]").click()
  await page.locator(".choice input").nth(2).check()
  await page.locator(".build-frame").waitFor()
}

const pictures: ReadonlyArray<Picture> = [
  ...screens,
  {
    name: "dialog-approve",
    path: `/w/acme/runs/${reviewRun}`,
    ready: ".decision",
    act: (page) => page.locator(".decision .button-danger").click()
  },
  { name: "dialog-palette", path: "/w/acme", ready: ".attention-row", act: (page) => page.keyboard.press("Control+k") },
  {
    name: "dialog-connection",
    path: "/w/acme/connections",
    ready: ".row-connection",
    act: (page) => page.locator(".page-actions .button-primary").click()
  },
  { name: "install-filled", path: "/new", ready: "input[type=url]", act: readRepository }
]

const wanted = (argument: string | undefined, name: string): boolean =>
  argument === undefined || argument.split(",").includes(name)

const capture = Effect.fn("screenshots.capture")(function* (
  look: string,
  picture: Picture,
  page: Page,
  origin: string
) {
  yield* Effect.promise(async () => {
    await page.goto(`${origin}${picture.path}`)
    await page.locator(picture.ready).first().waitFor()
    await picture.act?.(page)
    await page.waitForLoadState("networkidle")
    const fullPage = !picture.name.startsWith("dialog")
    await page.screenshot({ path: join(folder, `${picture.name}.${look}.png`), fullPage })
  })
})

const program = Effect.gen(function* () {
  const files = yield* servedFiles
  yield* Effect.promise(() => mkdir(folder, { recursive: true }))
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const [, , lookArgument, screenArgument] = process.argv
  for (const [name, look] of Object.entries(looks)) {
    if (!wanted(lookArgument, name)) continue
    const api = yield* Effect.acquireRelease(
      Effect.sync(() => startDevelopmentApi(files, newWorld())),
      (started) => Effect.promise(() => started.stop())
    )
    const { page } = yield* Effect.promise(() => browser.open(look))
    for (const picture of pictures)
      if (wanted(screenArgument, picture.name)) yield* capture(name, picture, page, api.origin)
  }
})

await Effect.runPromise(Effect.scoped(program))
