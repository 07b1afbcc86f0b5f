import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { docsPage } from "../../src/dashboard/ui/DocsPage.tsx"

const dashboard = new URL("../../src/dashboard/", import.meta.url)

describe("Links to the documentation", () => {
  test("a page has the address at which the server serves it", () => {
    expect(docsPage()).toBe("/docs/")
    expect(docsPage("docs/webhooks/github.md")).toBe("/docs/webhooks/github.html")
  })

  test("every page that the dashboard links to exists", () => {
    const texts = readdirSync(dashboard, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".tsx"))
      .map((name) => readFileSync(new URL(name, dashboard), "utf8"))
    const pages = texts.flatMap((text) => [...text.matchAll(/page="(docs\/[^"]+)"/g)].map(([, page = ""]) => page))
    expect(pages.length).toBeGreaterThan(1)
    for (const page of pages) {
      expect([page, existsSync(new URL(`../../${page}`, import.meta.url))]).toEqual([page, true])
    }
  })
})
