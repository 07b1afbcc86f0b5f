import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { encode } from "uqr"
import { factorWords } from "../../src/dashboard/screens/account/FactorWords.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

/** Reads the QR code's modules from the screen. A module is true if its middle is dark. */
const modulesOnScreen = async (page: Page, size: number): Promise<ReadonlyArray<ReadonlyArray<boolean>>> => {
  const picture = await page.getByRole("dialog").locator("svg.qr-code").screenshot({ scale: "css" })
  return page.evaluate(
    async ({ picture, size }) => {
      const bytes = Uint8Array.from(picture)
      const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }))
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
      const drawing = canvas.getContext("2d")
      drawing?.drawImage(bitmap, 0, 0)
      const pixels = drawing?.getImageData(0, 0, bitmap.width, bitmap.height).data
      const at = (index: number) => Math.floor(((index + 0.5) * bitmap.width) / size)
      return Array.from({ length: size }, (_, y) =>
        Array.from({ length: size }, (_, x) => (pixels?.[(at(y) * bitmap.width + at(x)) * 4] ?? 255) < 128)
      )
    },
    { picture: [...picture], size }
  )
}

describe("Setup of a second factor", () => {
  for (const look of [lightEnglish, darkJapanese, phone])
    test(`setting up a second factor shows a QR code with a white border and the key in groups of four, in ${look.language}, ${look.theme}, ${look.width ?? 1360} px`, async () => {
      const words = factorWords[look.language]
      const { page, faults, go } = await suite.visit(look)
      await go("/account", ".row-static")
      const begun = page.waitForResponse(
        (response) => response.url().endsWith("/auth/second-factor") && response.request().method() === "POST"
      )
      await page.getByRole("button", { name: words.setUp, exact: true }).click()
      const { secret, uri }: { readonly secret: string; readonly uri: string } = await (await begun).json()
      const dialog = page.getByRole("dialog", { name: words.title })
      await dialog.getByRole("img", { name: words.picture }).waitFor()
      const { data, size } = encode(uri, { ecc: "M", border: 4 })
      expect(await modulesOnScreen(page, size)).toEqual(data)
      const groups = await dialog.locator(".secret-once code").innerText()
      expect(
        groups
          .split(" ")
          .slice(0, -1)
          .every((group) => group.length === 4)
      ).toBe(true)
      expect(groups.replaceAll(" ", "")).toBe(secret)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
})
