import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { setupWords } from "../../src/dashboard/signed-out/SetupWords.ts"
import { profileWords } from "../../src/dashboard/screens/account/ProfileWords.ts"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { mailServer } from "../support/MailServer.ts"
import { startBrowser } from "./support/Browser.ts"
import { password, personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { barriers, darkJapanese, lightEnglish } from "./support/Suite.ts"

/** No server listens at this address, because the test does not read from any Git server. */
const noGit = "http://127.0.0.1:9"
const mina = "mina@acme.example"
const newAddress = "mina.sato@acme.example"

/** Starts a server that sends email. The person sets up the account in an English browser, and then uses a Japanese one. */
const world = Effect.gen(function* () {
  const post = yield* mailServer()
  const flags = [`--smtp-url=smtp://127.0.0.1:${post.port}`, "--smtp-from=svc@acme.example"]
  const { network, operator, setupLink } = yield* realServer(noGit, flags)
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const open = (look: typeof lightEnglish) =>
    Effect.map(
      Effect.promise(() => browser.open(look)),
      (opened) => ({ ...opened, ...personAt(opened.page, 20_000) })
    )
  const english = yield* open(lightEnglish)
  yield* setUp(english.page, setupLink)
  /** Returns the link from the email to this address. The message body is quoted-printable. */
  const mailedLink = Effect.fnUntraced(function* (to: string, path: string) {
    const mails = yield* eventually(
      Effect.sync(() => post.mails.filter((mail) => mail.to === to)),
      (found) => found.length > 0
    )
    const text = mails.map(({ message }) => message.replaceAll("=\r\n", "")).join("\n")
    return new RegExp(`${network.origin}${path}#\\S+`).exec(text)?.[0] ?? ""
  })
  return { english, japanese: yield* open(darkJapanese), mailedLink, network, operator, post }
})

describe("Reset links", () => {
  it.live(
    "in both languages, a reset link shows its account, even after a reload, and shows only its purpose after use",
    () =>
      Effect.gen(function* () {
        const { english, japanese, mailedLink, operator } = yield* world
        const printed = (yield* operator("reset-password", `--email=${mina}`, "--mail")).split("\n")[0] ?? ""
        const mailed = yield* mailedLink(mina, "/setup")
        expect([printed === mailed, new URL(mailed).pathname]).toEqual([false, "/setup"])

        const [en, ja] = [setupWords.en, setupWords.ja]
        yield* japanese.step(() => japanese.page.goto(mailed))
        for (const _ of ["opened", "reloaded"]) {
          yield* japanese.heading(ja.recoverTitle)
          yield* japanese.see(ja.recoverAbout(mina))
          expect(japanese.page.url()).not.toContain("#")
          yield* japanese.step(() => japanese.page.reload())
        }
        expect(yield* Effect.promise(() => barriers(japanese.page))).toEqual([])
        yield* japanese.type(ja.newPassword, `${password} too`)
        yield* japanese.press(ja.setPassword)
        yield* japanese.step(() => japanese.page.waitForURL("**/w/*"))

        // Using the emailed link also invalidated the printed link.
        for (const [{ heading, page, see, step }, words, link] of [
          [japanese, ja, mailed],
          [english, en, printed]
        ] as const) {
          yield* step(() => page.goto(link))
          for (const _ of ["opened", "reloaded"]) {
            yield* heading(words.recoverTitle)
            yield* see(words.used.recovery)
            yield* see(words.wasFor.recovery)
            expect(yield* Effect.promise(() => page.getByText(mina).count())).toBe(0)
            yield* step(() => page.reload())
          }
          expect(yield* Effect.promise(() => barriers(page))).toEqual([])
        }
        yield* english.step(() => english.page.getByRole("link", { name: en.signIn }).click())
        yield* english.step(() => english.page.waitForURL("**/sign-in"))
      }),
    240_000
  )
})

describe("Address-change links", () => {
  it.live(
    "an address-change link is emailed to the new address, survives a reload, and can be used only once",
    () =>
      Effect.gen(function* () {
        const { english, japanese, mailedLink, network } = yield* world
        const words = profileWords.en
        const { heading, page, press, pressInDialog, see, step } = english
        yield* step(() => page.goto(`${network.origin}/account`))
        yield* press(words.changeAddress)
        yield* step(() => page.getByRole("dialog").getByLabel(words.newAddress).fill(newAddress))
        yield* pressInDialog(words.mailLink)
        yield* see(words.linkMailed)
        const link = yield* mailedLink(newAddress, "/account/address")

        // A signed-out person returns to the link after signing in, and no address contains the secret.
        yield* japanese.step(() => japanese.page.goto(link))
        yield* japanese.step(() => japanese.page.waitForURL("**/sign-in?return=*"))
        expect(japanese.page.url()).not.toContain("svce_")
        yield* japanese.type("メールアドレス", mina)
        yield* japanese.type("パスワード", password)
        yield* japanese.step(() => japanese.page.keyboard.press("Enter"))
        yield* japanese.see(profileWords.ja.addressText(mina, newAddress))

        yield* step(() => page.goto(link))
        for (const _ of ["opened", "reloaded"]) {
          yield* heading(words.addressTitle)
          yield* see(words.addressText(mina, newAddress))
          yield* step(() => page.reload())
        }
        expect(yield* Effect.promise(() => barriers(page))).toEqual([])
        yield* press(words.addressAction)
        yield* see(words.addressChanged)
        yield* see(newAddress)

        yield* step(() => page.goto(link))
        yield* see(words.addressEnded.used.title)
        yield* japanese.step(() => japanese.page.reload())
        yield* japanese.see(profileWords.ja.addressEnded.used.title)
        expect(yield* Effect.promise(() => barriers(japanese.page))).toEqual([])
      }),
    240_000
  )
})
