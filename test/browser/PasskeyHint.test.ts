import { expect, test } from "bun:test"
import { passkeyWords } from "../../src/dashboard/ui/PasskeyWords.ts"
import { barriers, browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

/** Splits a hint into the texts before and after its code. */
const partsOf = (text: string): ReadonlyArray<string> => text.split("`").filter((part) => part !== "")

test.each(["en", "ja"] as const)(
  "at an IP address of this machine the sign-in pages suggest localhost, where passkeys work (%s)",
  async (language) => {
    const words = passkeyWords[language]
    const { page, api, faults } = await suite.visit({ language, theme: "light" })
    const named = api.origin
    const numbered = named.replace("localhost", "127.0.0.1")
    for (const path of ["/sign-in", "/setup#right-secret"]) {
      await page.goto(`${numbered}${path}`)
      await page.getByText(words.openByName(named)).waitFor()
      expect(await barriers(page)).toEqual([])
    }
    // A server with an IP address cannot offer passkeys.
    await page.route("**/auth/offer", (route) => route.fulfill({ json: { password: true, passkeys: false } }))
    await page.goto(`${numbered}/setup#right-secret`)
    for (const part of partsOf(words.serveByName(named))) await page.getByText(part.trim()).first().waitFor()
    await page.goto(`${named}/setup#right-secret`)
    await page.locator("input[type=password]").waitFor()
    expect(await page.getByText("localhost").count()).toBe(0)
    expect(faults).toEqual([])
  }
)
