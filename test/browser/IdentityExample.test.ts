import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { pageWords } from "../../src/accounts/oidc/PageWords.ts"
import { platform } from "../../src/composition/Platform.ts"
import { joinWords } from "../../src/dashboard/signed-out/JoinWords.ts"
import { signedOutWords } from "../../src/dashboard/signed-out/Words.ts"
import { memberWords } from "../../src/dashboard/screens/workspace/MemberWords.ts"
import { workspaceWords } from "../../src/dashboard/screens/workspace/Words.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { canFollow, email, followedTutorial, password } from "../examples/support/IdentityTutorial.ts"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { keyboardOf } from "./support/Keyboard.ts"
import { barriers } from "./support/Suite.ts"

type Language = "en" | "ja"

const step = <A>(act: () => Promise<A>) => Effect.promise(act)

/** The invitation page tries to load the signed-in person, who may not exist. */
const unexpected = (faults: ReadonlyArray<string>) => faults.filter((text) => !text.endsWith("401 (Unauthorized)"))

/** Returns a person's actions in svc and in the application, performed by keyboard in the person's language. */
const personIn = (page: Page, language: Language, at: { readonly svc: string; readonly app: string }) => {
  const keys = keyboardOf(page)
  const button = (name: string) => page.getByRole("button", { name, exact: true })
  const link = (name: string) => page.getByRole("link", { name, exact: true })
  const greeted = (name: string) => page.getByRole("heading", { name: `Hello, ${name}`, exact: true }).waitFor()
  const { [language]: entrance } = signedOutWords
  const { [language]: people } = memberWords
  const signIn = async (address: string) => {
    await keys.type(page.getByLabel(entrance.email), address)
    await keys.type(page.getByLabel(entrance.password, { exact: true }), password)
    await keys.submit()
  }
  const row = (address: string) => page.locator(".row-static", { hasText: address })
  return {
    barriers: step(() => barriers(page)),
    signIn: step(async () => {
      await page.goto(`${at.svc}/sign-in`)
      await signIn(email)
      await page.waitForURL("**/w/*")
      await page.goto(`${at.svc}/w/tutorial/settings`)
    }),
    invite: step(async () => {
      await keys.press(button(people.invite))
      await keys.type(page.getByRole("dialog").getByLabel(new RegExp(`^${people.email}`)), "")
      await keys.submit()
      const invitation = await page.locator(".secret-once code").textContent()
      await page.keyboard.press("Escape")
      return invitation ?? ""
    }),
    join: (invitation: string, name: string, address: string) =>
      step(async () => {
        await page.goto(invitation)
        await page.getByText(joinWords[language].role.member).waitFor()
        await keys.type(page.getByLabel(new RegExp(`^${entrance.displayName}`)), name)
        await keys.type(page.getByLabel(entrance.email), address)
        await keys.type(page.getByLabel(entrance.password, { exact: true }), password)
        await keys.submit()
        await page.waitForURL("**/w/tutorial")
      }),
    /** A person with an svc session only needs to consent. */
    enter: (name: string) =>
      step(async () => {
        await page.goto(at.app)
        await keys.press(link("Sign in"))
        await page.getByRole("heading", { name: pageWords[language].consentTitle("notes") }).waitFor()
        expect(await barriers(page)).toEqual([])
        await keys.press(button(pageWords[language].allow))
        await greeted(name)
      }),
    /** A person without a session must sign in, but need not consent again. */
    enterAgain: (name: string, address: string) =>
      step(async () => {
        await keys.press(link("Sign in"))
        await signIn(address)
        await greeted(name)
      }),
    leave: step(async () => {
      await keys.press(link("Sign out"))
      await page.waitForURL(`${at.app}/`)
      await link("Sign in").waitFor()
    }),
    isIn: (name: string) => step(() => page.reload().then(() => greeted(name))),
    isOut: step(async () => {
      await page.reload()
      await page.getByRole("heading", { name: "You are signed out" }).waitFor()
    }),
    isRefused: step(async () => {
      await keys.press(link("Sign in"))
      await page.waitForURL(/\/callback\?error=access_denied/)
      await page.getByRole("heading", { name: "You are signed out" }).waitFor()
    }),
    hasNoSession: step(async () => {
      const answer = await page.request.get(`${at.svc}/api/v1/dashboard/bootstrap`)
      expect(answer.status()).toBe(401)
    }),
    remove: (address: string) =>
      step(async () => {
        await page.goto(`${at.svc}/w/tutorial/settings`)
        await keys.press(row(address).getByRole("button", { name: vocabulary[language].remove, exact: true }))
        await keys.press(page.getByRole("dialog").getByRole("button", { name: vocabulary[language].remove }))
        await row(address).getByText(workspaceWords[language].status.suspended).waitFor()
        await page.goto(at.app)
      })
  }
}

describe.skipIf(!canFollow && process.env["SVC_TEST_REQUIRE_ALL"] !== "1").each([
  ["en", "ja"],
  ["ja", "en"]
] as const)("Two people and an application, the owner in %s and the guest in %s", (first, second) => {
  it.live(
    "an application admits an invited person, and rejects the person's first request after the owner has removed that person",
    () =>
      Effect.gen(function* () {
        const at = yield* followedTutorial
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const open = (language: Language) =>
          step(() => browser.open({ language, theme: language === "en" ? "light" : "dark", anyCertificate: true }))
        const [owners, guests] = yield* Effect.all([open(first), open(second)])
        const owner = personIn(owners.page, first, at)
        const guest = personIn(guests.page, second, at)

        yield* owner.signIn
        yield* guest.join(yield* owner.invite, "Ken", "ken@acme.example")
        // Both people are signed in at once, each under a different name.
        yield* Effect.all([owner.enter("mina"), guest.enter("Ken")], { concurrency: "unbounded" })

        yield* guest.leave
        yield* guest.hasNoSession
        yield* owner.isIn("mina")
        yield* guest.enterAgain("Ken", "ken@acme.example")

        yield* owner.remove("ken@acme.example")
        yield* guest.isOut
        yield* guest.isRefused
        yield* owner.isIn("mina")
        expect([owners.faults, guests.faults].map(unexpected)).toEqual([[], []])
      }).pipe(Effect.provide(platform)),
    180_000
  )
})
