import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { setupWords } from "../../src/dashboard/signed-out/SetupWords.ts"
import { signedOutWords } from "../../src/dashboard/signed-out/Words.ts"
import { profileWords } from "../../src/dashboard/screens/account/ProfileWords.ts"
import { accountWords } from "../../src/dashboard/screens/account/Words.ts"
import { it } from "../support/Effect.ts"
import { withAuthenticator } from "./support/Authenticator.ts"
import { keyboardOf } from "./support/Keyboard.ts"
import { type Language, step } from "./support/KeyboardPerson.ts"
import { peopleAtOnce } from "./support/PeopleAtOnce.ts"
import { password } from "./support/Person.ts"
import { barriers } from "./support/Suite.ts"

const email = "mina@acme.example"
const newEmail = "mina.sato@acme.example"

/** Returns the account owner's actions on one device, performed by keyboard. */
const deviceOf = (page: Page, language: Language, origin: string) => {
  const keys = keyboardOf(page)
  const { [language]: setup } = setupWords
  const { [language]: entrance } = signedOutWords
  const { [language]: profile } = profileWords
  const { [language]: account } = accountWords
  const button = (name: string) => page.getByRole("button", { name, exact: true })
  const dialog = page.getByRole("dialog")
  const present = async (address: string) => {
    await page.goto(`${origin}/sign-in`)
    await keys.type(page.getByLabel(entrance.email), address)
    await keys.type(page.getByLabel(entrance.password, { exact: true }), password)
    await keys.submit()
  }
  return {
    setUpByPasskey: (link: string) =>
      step(async () => {
        await page.goto(link)
        await keys.type(page.getByLabel(entrance.displayName), "Mina")
        await keys.type(page.getByLabel(entrance.email), email)
        await keys.press(button(setup.createByPasskey))
        await page.waitForURL("**/w/*")
      }),
    setPassword: step(async () => {
      await page.goto(`${origin}/account`)
      await page.getByText(profile.setPasswordAbout).waitFor()
      await keys.press(button(profile.setPassword))
      await keys.type(dialog.getByLabel(account.newPassword), password)
      await keys.submit()
      await dialog.waitFor({ state: "detached" })
      await button(account.changePassword).waitFor()
    }),
    /** The notice stays until somebody dismisses it. */
    acceptsNotice: (text: string) =>
      step(async () => {
        await page.goto(`${origin}/account`)
        await page.getByText(text).waitFor()
        expect(await barriers(page)).toEqual([])
        await keys.press(button(profile.noticesSeen))
        await page.getByText(text).waitFor({ state: "detached" })
      }),
    signIn: (address: string) =>
      step(async () => {
        await present(address)
        await page.waitForURL("**/w/*")
      }),
    isNotLetIn: (address: string) =>
      step(async () => {
        await present(address)
        await page.getByText(entrance.signInFailed).waitFor()
      }),
    isSignedOut: step(async () => {
      await page.goto(`${origin}/account`)
      await page.waitForURL("**/sign-in*")
    }),
    changeAddress: (link: string) =>
      step(async () => {
        await page.goto(link)
        await page.getByText(profile.addressText(email, newEmail)).waitFor()
        await keys.press(button(profile.addressAction))
        await page.getByText(profile.addressChanged).waitFor()
      }),
    hasAddress: (address: string) =>
      step(async () => {
        await page.goto(`${origin}/account`)
        await page.getByText(address).first().waitFor()
      })
  }
}

describe.each([
  ["en", "ja"],
  ["ja", "en"]
] as const)("Account without a password, on two devices, in %s and in %s", (first, second) => {
  it.live(
    "an account gets a password for another device, is locked and unlocked, and changes its address",
    () =>
      Effect.gen(function* () {
        const { faults, network, openPage, operator, setupLink } = yield* peopleAtOnce()
        const [herePage, therePage] = yield* Effect.all([openPage(first), openPage(second)])
        yield* withAuthenticator(herePage)
        const here = deviceOf(herePage, first, network.origin)
        const there = deviceOf(therePage, second, network.origin)

        yield* here.setUpByPasskey(setupLink)
        yield* there.isNotLetIn(email)
        yield* here.setPassword
        yield* there.signIn(email)
        yield* there.acceptsNotice(profileWords[second].notices.password())

        yield* operator("users", "lock", `--email=${email}`)
        yield* Effect.all([here.isSignedOut, there.isSignedOut])
        yield* here.isNotLetIn(email)
        yield* operator("users", "unlock", `--email=${email}`)
        yield* Effect.all([here.signIn(email), there.signIn(email)])

        const printed = yield* operator("address-link", `--email=${email}`, `--to=${newEmail}`)
        yield* there.changeAddress(/\S+#\S+/.exec(printed)?.[0] ?? "")
        yield* here.hasAddress(newEmail)
        yield* here.acceptsNotice(profileWords[first].notices.address(email))
        expect(faults()).toEqual([[], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
