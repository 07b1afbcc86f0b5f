import { describe, expect, test } from "bun:test"
import { QueryClient } from "@tanstack/react-query"
import type { Page } from "playwright-core"
import { makeRouter } from "../../src/dashboard/app/Router.tsx"
import { signedOutPages } from "../../src/dashboard/Pages.tsx"
import { dialogs, otherDialogs } from "./support/Dialogs.ts"
import { failedRun } from "./support/records/Runs.ts"
import { outsideControls, sharedNames, untranslated } from "./support/ScreenText.ts"
import { redirects, screens, screensByRoute } from "./support/Screens.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

const looks = [
  ["English, light", lightEnglish],
  ["Japanese, dark", darkJapanese]
] as const

const dashboard = new URL("../../src/dashboard/", import.meta.url).pathname

describe("Covered routes", () => {
  test("every route", () => {
    const routes = [
      ...Object.keys(makeRouter(new QueryClient()).routesByPath),
      ...signedOutPages.map((page) => `/${page}`)
    ]
    expect([...Object.keys(screensByRoute), ...Object.keys(redirects)].toSorted()).toEqual(routes.toSorted())
  })

  test("every dialog", async () => {
    const drawing: Array<string> = []
    for (const file of new Bun.Glob("**/*.tsx").scanSync(dashboard)) {
      const declarations = (await Bun.file(`${dashboard}${file}`).text()).split(/^(?=(?:export )?(?:const|function) )/m)
      const components = declarations.flatMap((text) =>
        /<(?:(?:Confirm|Form|Removal)?Dialog|dialog)\b/.test(text)
          ? [/^(?:export )?(?:const|function) (\w+)/.exec(text)?.[1] ?? ""]
          : []
      )
      drawing.push(...(components.length === 1 ? [file] : components.map((component) => `${file}#${component}`)))
    }
    const walked = new Set([...dialogs.map(({ source }) => source), ...otherDialogs])
    expect([...walked].toSorted()).toEqual(drawing.toSorted())
  })

  test("every tab", async () => {
    const { page, go } = await suite.visit()
    const paths = new Set(screens.map(({ path }) => path))
    for (const name of ["capsule", "workspace"]) {
      const screen = screens.find((each) => each.name === name)
      if (screen === undefined) throw new Error(`No screen ${name}.`)
      await go(screen.path, screen.ready)
      const tabs = await page.locator(".tabs a").evaluateAll((links) => links.map((link) => link.getAttribute("href")))
      expect(tabs.length).toBeGreaterThan(1)
      expect(tabs.filter((tab) => tab === null || !paths.has(tab))).toEqual([])
    }
  })

  test("every route without an accessibility check redirects to a route with a check", async () => {
    const { page, go } = await suite.visit()
    for (const { path, to } of Object.values(redirects)) {
      await go(path)
      await page.waitForURL(({ pathname }) => pathname === to)
    }
  })
})

/** Screens of a missing record log a 404, because the page requests that record. */
const unexpected = (faults: ReadonlyArray<string>, missing: true | undefined) =>
  faults.filter((fault) => missing !== true || !fault.endsWith("404 (Not Found)"))

const sideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** Finds visible text with a size that is not one of the design's five sizes. */
const otherSizes = (page: Page) =>
  page.evaluate(() => {
    const sizes = new Set(["12px", "13px", "14px", "16px", "24px"])
    const found = [...document.body.querySelectorAll("*")].filter(
      (element) =>
        element.checkVisibility() &&
        [...element.childNodes].some((node) => node.nodeType === 3 && (node.textContent ?? "").trim() !== "") &&
        !sizes.has(getComputedStyle(element).fontSize)
    )
    return found.map((element) => `${element.tagName} ${element.className}: ${getComputedStyle(element).fontSize}`)
  })

const themes = ["light", "dark"] as const

/** Switches the open page to the other theme with the control on the page. */
const inTheme = (page: Page, theme: (typeof themes)[number]) =>
  page.evaluate((value) => document.documentElement.setAttribute("data-theme", value), theme)

// The short run checks each language in only one theme and at the wide width; the full run checks every combination.
const short = process.env["SVC_TEST_BROWSER"] === "short"
const languages = ["en", "ja"] as const
const widths = short ? [1440] : [1440, 390, 320]

describe.each(languages)("Accessibility of screens in %s", (language) => {
  test.each(widths)(
    "a screen at %d px has no accessibility violations, ambiguous names, hidden controls or untranslated text",
    async (width) => {
      const look = { language, theme: language === "en" ? "light" : "dark", width, height: 900 } as const
      const { page, faults, go } = await suite.visit(look)
      const found: Record<string, ReadonlyArray<string>> = {}
      for (const { missing, name, path, ready } of screens) {
        await go(path, ready)
        const shown = await page.evaluate(() => document.documentElement.lang)
        const over = await sideways(page)
        const wrong = [
          ...(shown === language ? [] : [`lang is ${shown}`]),
          ...(over > 0 ? [`it is ${over} px too wide`] : []),
          ...(await otherSizes(page)),
          ...(await outsideControls(page)),
          ...(await sharedNames(page)),
          ...(language === "ja" ? await untranslated(page) : [])
        ]
        for (const theme of short ? [look.theme] : themes) {
          await inTheme(page, theme)
          wrong.push(...(await barriers(page)).map((barrier) => `${theme}: ${barrier}`))
        }
        wrong.push(...unexpected(faults.splice(0), missing))
        if (wrong.length > 0) found[name] = wrong
      }
      expect(found).toEqual({})
    },
    600_000
  )
})

describe.each(looks)("Accessibility of dialogs in %s", (_name, look) => {
  test.each(dialogs.map((dialog, index) => [dialog.source, index, dialog] as const))(
    "a dialog has no accessibility violations, closes with Escape and restores the focus: %s (%d)",
    async (source, _index, { path, ready, open }) => {
      const { page, faults, go } = await suite.visit(look)
      await go(path, ready)
      await open(page, look.language)
      await page.locator("dialog[open]").waitFor()
      expect(await barriers(page)).toEqual([])
      const holdsFocus = await page.evaluate(() => document.activeElement?.closest("dialog[open]") !== null)
      expect(holdsFocus).toBe(true)
      await page.keyboard.press("Escape")
      await page.locator("dialog[open]").waitFor({ state: "detached" })
      // A dialog opened with a shortcut has no focus to restore.
      if (!["app/Palette.tsx", "app/ShortcutHelp.tsx"].includes(source)) {
        const isLost = await page.evaluate(
          () => document.activeElement === null || document.activeElement === document.body
        )
        expect(isLost).toBe(false)
      }
      expect(faults).toEqual([])
    }
  )

  test("menus", async () => {
    const { page, faults, go } = await suite.visit(look)
    await go("/w/acme", ".attention-row")
    for (const trigger of [".side-workspace", ".side-account"]) {
      await page.locator(trigger).click()
      await page.locator(".menu").waitFor()
      expect(await barriers(page)).toEqual([])
      await page.keyboard.press("Escape")
      await page.locator(".menu").waitFor({ state: "detached" })
    }
    expect(faults).toEqual([])
  })
})

// The short run skips this, because the two checks above cover it at another width.
describe.skipIf(short)("Accessibility on a phone", () => {
  test("the navigation menu on a phone opens, leads to a page and closes", async () => {
    const { page, go } = await suite.visit(phone)
    await go(`/w/acme/runs/${failedRun}`, ".diagnosis")
    await page.getByRole("button", { name: "Open navigation" }).click()
    await page.locator("dialog[open]").waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByRole("dialog").getByRole("link", { name: "Capsules" }).click()
    await page.locator(".long-row").first().waitFor()
    expect(await page.locator("dialog[open]").count()).toBe(0)
  })
})
