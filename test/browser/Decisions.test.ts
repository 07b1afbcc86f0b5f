import { describe, expect, test } from "bun:test"
import type { Page, Request, Route } from "playwright-core"
import * as endpoints from "../../src/dashboard/api/Endpoints.ts"
import { appWords } from "../../src/dashboard/app/Words.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { type DecisionRow, decisions, otherLines } from "./support/Decisions.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()
const looks = { en: lightEnglish, ja: darkJapanese }
const dashboard = new URL("../../src/dashboard/", import.meta.url).pathname

const asPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)

const isOf = ({ line }: DecisionRow, request: Pick<Request, "method" | "url">): boolean => {
  const [method = "", path = ""] = line.split(" ")
  return request.method() === method && asPattern(path).test(new URL(request.url()).pathname)
}

/** Passes the requests that match the row to `handle`, until the returned function is called. */
const intercept = async (page: Page, row: DecisionRow, handle: (route: Route) => Promise<void>) => {
  const pattern = (url: URL) => asPattern(row.line.split(" ")[1] ?? "").test(url.pathname)
  const each = (route: Route) => (isOf(row, route.request()) ? handle(route) : route.fallback())
  await page.route(pattern, each)
  return () => page.unroute(pattern, each)
}

/** Every change that the dashboard sends, except changes from pages before sign-in. */
const sentLines = async (): Promise<ReadonlyArray<string>> => {
  const lines = Object.values<string>(endpoints).filter((line) => !line.startsWith("GET "))
  for (const file of new Bun.Glob("{app,screens}/**/*.{ts,tsx}").scanSync(dashboard)) {
    const text = await Bun.file(`${dashboard}${file}`).text()
    const found = text.matchAll(/\b(post|request)(?:<[^()]*>)?\(\s*(?:"(POST|DELETE)", )?[`"](\/[^`"]+)[`"]/g)
    for (const [, , method = "POST", path = ""] of found)
      lines.push(`${method} ${path.replaceAll(/\$\{[^}]*\}/g, ":id")}`)
  }
  return [...new Set(lines)]
}

describe("Decision table", () => {
  test("the decision table has a row for every change that the dashboard sends", async () => {
    const listed = [...decisions.map(({ line }) => line), ...Object.keys(otherLines)]
    expect(listed.toSorted()).toEqual([...(await sentLines())].toSorted())
  })

  test("only files that the decision table covers use the query library's mutations", async () => {
    const users: Array<string> = []
    for (const file of new Bun.Glob("**/*.{ts,tsx}").scanSync(dashboard))
      if (/useMutation|MutationObserver/.test(await Bun.file(`${dashboard}${file}`).text())) users.push(file)
    expect(users).toEqual(["ui/Decision.ts"])
  })
})

const short = process.env["SVC_TEST_BROWSER"] === "short"
const languages = short ? (["en"] as const) : (["en", "ja"] as const)
/** The short run takes the first row, which approves, and every tenth row after it. */
const rows = decisions.filter((_, index) => !short || index % 10 === 0)

describe("Decision: approve and apply", () => {
  const [approval] = decisions
  if (approval === undefined) throw new Error("There are no decisions.")
  const paths = (changes: ReadonlyArray<{ readonly path: string }>) => changes.map(({ path }) => path.split("/").at(-1))

  test("no apply is sent if the dialog is closed before the response to the approval arrives", async () => {
    const { api, page, go } = await suite.visit()
    await go(approval.path, approval.ready)
    const decide = await approval.reach(page, "en")
    const arrived = Promise.withResolvers<Route>()
    await intercept(page, approval, async (route) => {
      const response = await route.fetch()
      arrived.resolve(route)
      await route.fulfill({ response }).catch(() => undefined)
    })
    // The person closes the dialog while the response is in transit.
    await page.evaluate(() => {
      const send = window.fetch
      Reflect.set(window, "fetch", async (url: string, request: RequestInit) => {
        const answer = await send(url, request)
        if (url.endsWith("/approve")) document.querySelector("dialog")?.dispatchEvent(new Event("cancel"))
        return answer
      })
    })
    await decide.click()
    await arrived.promise
    await page.locator("dialog[open]").waitFor({ state: "detached" })
    await page.getByText(vocabulary.en.fault.withdrawn).waitFor()
    await page.waitForLoadState("networkidle")
    expect(paths(api.changes)).toEqual(["approve"])
  })

  test("nothing is sent later if the person left the page while the browser was offline", async () => {
    const { api, page, go } = await suite.visit()
    await go(approval.path, approval.ready)
    await approval.reach(page, "en")
    await page.context().setOffline(true)
    await page.getByText(appWords.en.unreachable).waitFor()
    await page.locator("dialog form").evaluate((form) => form instanceof HTMLFormElement && form.requestSubmit())
    await page.getByText(vocabulary.en.fault.offline).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("link", { name: appWords.en.runs, exact: true }).click()
    await page.context().setOffline(false)
    await page.locator(".run-row").first().waitFor()
    await page.waitForLoadState("networkidle")
    expect(api.changes).toEqual([])
  })

  test("the page shows an approval whose response was lost", async () => {
    const { api, page, go } = await suite.visit()
    await go(approval.path, approval.ready)
    const decide = await approval.reach(page, "en")
    await intercept(page, approval, async (route) => {
      await route.fetch()
      await route.abort("connectionreset")
    })
    await decide.click()
    await page.getByRole("dialog").getByRole("button", { name: decisionWords.en.applyNow, exact: true }).waitFor()
    expect(await page.getByText(vocabulary.en.fault.unanswered).isVisible()).toBe(true)
    expect(paths(api.changes)).toEqual(["approve"])
  })
})

describe.each(languages)("in %s", (language) => {
  const { fault } = vocabulary[language]
  const away = appWords[language]

  const opened = async (row: DecisionRow) => {
    const world = newWorld()
    row.prepare?.(world)
    const visit = await suite.visit(looks[language], world)
    await visit.go(row.path, row.ready)
    const decide = await row.reach(visit.page, language)
    const before = visit.api.changes.length
    const sent = () =>
      visit.api.changes
        .slice(before)
        .filter(({ method, path }) => isOf(row, { method: () => method, url: () => `http://svc${path}` }))
    return { ...visit, decide, sent }
  }

  test.each(rows.map((row) => [row.line, row] as const))(
    "%s is refused while offline, and is not reported as unsent if its response was lost",
    async (_, row) => {
      const { page, decide, sent } = await opened(row)
      await page.context().setOffline(true)
      await page.getByText(away.unreachable).waitFor()
      expect(await decide.getAttribute("aria-disabled")).toBe("true")
      await decide.dispatchEvent("click")
      const isForm = await decide.evaluate((button) => {
        if (!(button instanceof HTMLButtonElement) || button.type !== "submit") return false
        button.form?.requestSubmit()
        return true
      })
      if (isForm) await page.getByText(fault.offline).waitFor()
      await page.context().setOffline(false)
      await page.getByText(away.unreachable).waitFor({ state: "detached" })
      expect(sent()).toEqual([])

      const release = await intercept(page, row, (route) => route.abort("connectionreset"))
      await decide.click()
      await page.getByText(fault.unanswered).first().waitFor()
      expect(await page.getByText(fault.offline).count()).toBe(0)
      expect(await page.getByText(fault.unreachable).count()).toBe(0)
      await release()
      await page.waitForLoadState("networkidle")
      expect(sent()).toEqual([])
    },
    60_000
  )

  test.each(rows.map((row) => [row.line, row] as const))(
    "%s is aborted when the person leaves the page, and never sent afterwards",
    async (_, row) => {
      const { page, decide, sent } = await opened(row)
      const held = Promise.withResolvers<Route>()
      await intercept(page, row, async (route) => held.resolve(route))
      await decide.click()
      const route = await held.promise
      const aborted = page.waitForEvent("requestfailed", (request) => isOf(row, request))
      const dialogs = page.locator("dialog[open]")
      if ((await dialogs.count()) > 0) {
        await page.keyboard.press("Escape")
      } else {
        await page.evaluate(() => {
          // Skips `/`, because the link to `/` opens Home, which may be the page that is already open.
          const here = new Set(["/", location.pathname])
          const links = [...document.querySelectorAll<HTMLAnchorElement>('a[href^="/"]')]
          links.find((link) => link.checkVisibility() && !here.has(link.pathname))?.click()
        })
      }
      await aborted
      await page.getByText(fault.withdrawn).waitFor()
      await route.continue().catch(() => undefined)
      await page.waitForLoadState("networkidle")
      expect(sent()).toEqual([])
      expect(await page.getByText(fault.offline).count()).toBe(0)
    },
    60_000
  )

  test.each(rows.map((row) => [row.line, row] as const))(
    "%s is sent once if its response is lost, and the page reloads its data",
    async (_, row) => {
      const { page, decide, sent } = await opened(row)
      const readAgain = Promise.withResolvers<void>()
      let isLost = false
      page.on("request", (request) => {
        const { pathname } = new URL(request.url())
        if (isLost && request.method() === "GET" && /^\/(?:api|auth)\//.test(pathname)) readAgain.resolve()
      })
      await intercept(page, row, async (route) => {
        await route.fetch()
        isLost = true
        await route.abort("connectionreset")
      })
      await decide.click()
      await readAgain.promise
      await page.waitForLoadState("networkidle")
      expect(sent()).toHaveLength(1)
      expect(await page.getByText(fault.offline).count()).toBe(0)
      expect(await page.getByText(fault.unreachable).count()).toBe(0)
    },
    60_000
  )
})
