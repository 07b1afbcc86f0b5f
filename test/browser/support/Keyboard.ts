import type { Locator, Page } from "playwright-core"

const mostTabs = 120

/** Presses Tab until the element has focus, like a person without a mouse. */
const reach = async (page: Page, element: Locator) => {
  await element.waitFor()
  for (let pressed = 0; pressed < mostTabs; pressed++) {
    if (await element.evaluate((found) => found === document.activeElement)) return
    await page.keyboard.press("Tab")
  }
  throw new Error(`The Tab key does not reach ${element.toString()}.`)
}

/** Returns the actions of a person who uses a page only by keyboard. */
export const keyboardOf = (page: Page) => ({
  press: async (element: Locator) => {
    await reach(page, element)
    await page.keyboard.press("Enter")
  },
  type: async (element: Locator, text: string) => {
    await reach(page, element)
    await page.keyboard.type(text)
  },
  submit: () => page.keyboard.press("Enter")
})
