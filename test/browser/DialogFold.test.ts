import { describe, expect, test } from "bun:test"
import { dialogs } from "./support/Dialogs.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const small = { width: 390, height: 600 }
const short = process.env["SVC_TEST_BROWSER"] === "short"
/** The short test run covers every tenth dialog. */
const walked = dialogs.filter((_, index) => !short || index % 10 === 0)

describe("Dialogs on a screen of 390 by 600", () => {
  for (const [index, { open, path, ready, source }] of walked.entries()) {
    test(`a dialog on a small screen keeps its buttons visible, and does not initially focus a button that sends a decision: ${index} ${source}`, async () => {
      const { page, go } = await suite.visit()
      await go(path, ready)
      await open(page, "en")
      const dialog = page.getByRole("dialog").last()
      await dialog.waitFor()
      // Some dialogs open from the navigation, which is folded on a small screen.
      await page.setViewportSize(small)
      const focused = await page.evaluate(() => {
        const element = document.activeElement
        return element?.matches(".button-primary, .button-danger") === true ? element.textContent : ""
      })
      expect(focused).toBe("")
      const hidden = await dialog
        .locator(".form-actions")
        .last()
        .locator("button, a")
        .evaluateAll((buttons) =>
          buttons.flatMap((button) => {
            const { bottom, height, top } = button.getBoundingClientRect()
            return height > 0 && (top < 0 || bottom > window.innerHeight) ? [button.textContent] : []
          })
        )
      expect(hidden).toEqual([])
    })
  }
})
