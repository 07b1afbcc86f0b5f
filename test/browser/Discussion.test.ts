import { describe, expect, test } from "bun:test"
import { discussionWords } from "../../src/dashboard/screens/run/DiscussionWords.ts"
import { runWords } from "../../src/dashboard/screens/run/Words.ts"
import { aiko, bruno } from "./support/records/People.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const path = `/w/acme/runs/${reviewRun}`

describe("Run discussions", () => {
  for (const look of [lightEnglish, darkJapanese, phone]) {
    const words = discussionWords[look.language]
    test(`a Run's discussion shows decisions and comments in chronological order (${look.language}, ${look.width ?? "wide"})`, async () => {
      const { page, go } = await suite.visit(look)
      await go(path, ".comment-form")
      const lines = page.locator(".discussion > li")
      await lines.nth(3).waitFor()
      expect(await lines.first().textContent()).toContain("Mina Sato")
      expect(await page.locator(".comment-text").allTextContents()).toEqual([
        "@Mina Sato does the replacement wait for the window?",
        "Yes,\ntonight."
      ])
      expect(await page.locator(".discussion").textContent()).toContain(words.removedBy("Aiko Tanaka"))
      await page.getByRole("link", { name: runWords[look.language].comments(3), exact: true }).waitFor()
      // Only the person's own comments have a remove button.
      expect(await page.getByRole("button", { name: words.remove }).count()).toBe(1)
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
      expect(await barriers(page)).toEqual([])
    })
  }

  test("people can be mentioned with the keyboard, and the request contains their ids", async () => {
    const words = discussionWords.en
    const { api, page, go } = await suite.visit()
    await go(path, ".comment-form")
    const field = page.getByLabel(words.label, { exact: true })
    await field.focus()
    await page.keyboard.type("@ai")
    await page.getByRole("option", { name: /Aiko Tanaka/ }).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.keyboard.press("Enter")
    await page.keyboard.type("and @")
    // Automations and invited people cannot be mentioned.
    expect(await page.getByRole("listbox", { name: words.people }).getByRole("option").count()).toBe(3)
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Tab")
    await page.keyboard.type("look")
    expect(await field.inputValue()).toBe("@Aiko Tanaka and @Bruno Keller look")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.locator(".comment-text", { hasText: "look" }).waitFor()
    expect(api.changes.map(({ body }) => body)).toEqual([
      { text: "@Aiko Tanaka and @Bruno Keller look", mentions: [aiko, bruno] }
    ])
    expect(await field.inputValue()).toBe("")
  })

  test("another person's comment appears without a reload, and the draft is kept", async () => {
    const words = discussionWords.en
    const { api, page, go } = await suite.visit()
    await page.clock.install()
    await go(path, ".comment-form")
    const field = page.getByLabel(words.label, { exact: true })
    await field.fill("A draft")
    api.world.comments.push({
      id: "cmt_0000000000000009",
      runId: reviewRun,
      author: bruno,
      text: "A late thought",
      createdAt: new Date().toISOString()
    })
    await page.clock.runFor(11_000)
    await page.locator(".comment-text", { hasText: "A late thought" }).waitFor()
    expect(await field.inputValue()).toBe("A draft")
  })

  test("a person can remove their own comment after a confirmation", async () => {
    const words = discussionWords.en
    const { page, go } = await suite.visit()
    await go(path, ".comment-form")
    await page.getByRole("button", { name: words.remove }).click()
    await page.getByRole("dialog").getByRole("button", { name: words.remove, exact: true }).click()
    await page.getByText(words.removedBy("Mina Sato")).waitFor()
    expect(await page.locator(".comment-text").count()).toBe(1)
  })
})
