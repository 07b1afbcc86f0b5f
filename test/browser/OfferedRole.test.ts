import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { memberWords } from "../../src/dashboard/screens/workspace/MemberWords.ts"
import { joinWords } from "../../src/dashboard/signed-out/JoinWords.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { bruno, members } from "./support/records/People.ts"
import { password, personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

describe("The members of a workspace", () => {
  for (const look of [lightEnglish, darkJapanese, phone]) {
    const { language } = look
    const words = memberWords[language]
    const admin = vocabulary[language].role.admin

    test(`an owner confirms the role that an invitation link offered, in ${language} at ${look.width ?? 1360} px`, async () => {
      const { page, faults, go } = await suite.visit(look)
      const sent: Array<unknown> = []
      let offer: { readonly offeredRole?: "admin" } = { offeredRole: "admin" }
      const shown = () => members.map((each) => (each.subject === bruno ? { ...each, ...offer } : each))
      await page.route(/\/members(?:\/|\?|$)/, async (route) => {
        if (route.request().method() === "PATCH") {
          sent.push(route.request().postDataJSON())
          offer = {}
          return route.fulfill({ json: { member: shown().find(({ subject }) => subject === bruno) } })
        }
        return route.fulfill({ json: { members: shown() } })
      })
      await go("/w/acme/settings", ".row-static")
      await page.getByText(words.offered(admin)).waitFor()
      expect(await barriers(page)).toEqual([])
      await page.getByRole("button", { name: words.confirmRole(admin) }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByText("bruno@acme.example", { exact: false }).waitFor()
      await dialog.getByRole("button", { name: words.confirmRole(admin) }).click()
      await dialog.waitFor({ state: "detached" })
      expect(sent).toEqual([{ role: "admin" }])
      expect(faults).toEqual([])
    })

    test(`a pending invitation is listed once, in ${language} at ${look.width ?? 1360} px`, async () => {
      const { page, go } = await suite.visit(look)
      await go("/w/acme/settings", ".row-static")
      await page.getByText("guest@partner.example").first().waitFor()
      expect(await page.getByText("guest@partner.example").count()).toBe(1)
    })

    test(`a server that cannot verify addresses offers only links, in ${language} at ${look.width ?? 1360} px`, async () => {
      const { page, faults, go } = await suite.visit(look)
      await page.route("**/dashboard/bootstrap*", async (route) => {
        const answer = await (await route.fetch()).json()
        const auth = { ...answer.capabilities.auth, oidc: false }
        await route.fulfill({ json: { ...answer, sendsMail: false, capabilities: { ...answer.capabilities, auth } } })
      })
      await go("/w/acme/settings", ".row-static")
      await page.getByRole("button", { name: words.invite, exact: true }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByText(words.noAddress).waitFor()
      expect(await dialog.locator("input[type=email]").count()).toBe(0)
      await dialog.getByRole("combobox").first().selectOption("admin")
      await dialog.getByText(words.offerHelp(admin)).waitFor()
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
  }
})

describe("An owner's invitation link with a higher role, on the real server", () => {
  it.live(
    "an invitation link with a higher role creates a member at once, and an admin after the owner confirms the account",
    () =>
      Effect.gen(function* () {
        const { network, setupLink } = yield* realServer("http://127.0.0.1:9")
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page } = yield* Effect.promise(() => browser.open(lightEnglish))
        const owner = personAt(page, 20_000)
        yield* setUp(page, setupLink)
        yield* owner.step(() => page.waitForURL("**/w/*"))
        const handle = new URL(page.url()).pathname.split("/")[2] ?? ""
        yield* owner.step(() => page.goto(`${network.origin}/w/${handle}/settings`))
        yield* owner.press("Invite")
        yield* owner.step(() => page.getByRole("dialog").getByLabel("Role", { exact: true }).selectOption("admin"))
        yield* owner.pressInDialog(memberWords.en.makeLink)
        yield* owner.step(() => page.locator(".secret-once code").waitFor())
        const link = (yield* Effect.promise(() => page.locator(".secret-once code").textContent())) ?? ""
        yield* owner.step(() => page.keyboard.press("Escape"))

        const second = yield* Effect.promise(() => browser.open(darkJapanese))
        const guest = personAt(second.page, 20_000)
        yield* guest.step(() => second.page.goto(link))
        yield* guest.see(joinWords.ja.role.member)
        yield* guest.see(joinWords.ja.offered.admin)
        yield* guest.type("メールアドレス", "ken@acme.example")
        yield* guest.type("パスワード", password)
        yield* guest.step(() => second.page.keyboard.press("Enter"))
        yield* guest.step(() => second.page.waitForURL(`**/w/${handle}`))

        yield* owner.step(() => page.reload())
        const row = page.locator(".row-static", { hasText: "ken@acme.example" }).first()
        const role = (name: string) => row.getByRole("button", { name: new RegExp(`: ${name}$`) })
        yield* owner.step(() => role("Member").waitFor())
        yield* owner.press(memberWords.en.confirmRole("Admin"))
        yield* owner.pressInDialog(memberWords.en.confirmRole("Admin"))
        yield* owner.step(() => row.getByText(memberWords.en.offered("Admin")).waitFor({ state: "detached" }))
        yield* owner.step(() => role("Admin").waitFor())
      }),
    120_000
  )
})
