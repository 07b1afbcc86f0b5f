import type { Page } from "playwright-core"

/** Counts a person's clicks across all pages in the tab. */
export const countClicks = async (page: Page) => {
  let clicks = 0
  await page.exposeFunction("__clicked", () => {
    clicks += 1
  })
  await page.addInitScript(() => {
    addEventListener(
      "click",
      (event) => {
        const tell: unknown = Reflect.get(globalThis, "__clicked")
        if (event.isTrusted && typeof tell === "function") tell()
      },
      { capture: true }
    )
  })
  return () => clicks
}
