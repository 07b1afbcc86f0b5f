import type { Page } from "playwright-core"

/** Counts a person's key presses across all pages in the tab, except the letters typed into fields. */
export const countKeyPresses = async (page: Page) => {
  const presses: Array<string> = []
  await page.exposeFunction("__pressed", (key: string) => presses.push(key))
  await page.addInitScript(() => {
    document.addEventListener(
      "keydown",
      (event) => {
        const tell: unknown = Reflect.get(globalThis, "__pressed")
        const isTyped =
          event.key.length === 1 && event.target instanceof Element && event.target.matches("input, textarea")
        if (event.isTrusted && !isTyped && typeof tell === "function") tell(event.key)
      },
      { capture: true }
    )
  })
  return presses
}
