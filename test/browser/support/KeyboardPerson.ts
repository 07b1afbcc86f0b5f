import { expect } from "bun:test"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { codeOf } from "../../../actors/access/account/SecondFactors.ts"
import { confirmIdentityWords } from "../../../src/dashboard/app/ConfirmIdentityWords.ts"
import { appWords } from "../../../src/dashboard/app/Words.ts"
import { joinWords } from "../../../src/dashboard/signed-out/JoinWords.ts"
import { signedOutWords } from "../../../src/dashboard/signed-out/Words.ts"
import { factorWords } from "../../../src/dashboard/screens/account/FactorWords.ts"
import { profileWords } from "../../../src/dashboard/screens/account/ProfileWords.ts"
import { accountWords } from "../../../src/dashboard/screens/account/Words.ts"
import { automationWords } from "../../../src/dashboard/screens/workspace/AutomationWords.ts"
import { memberWords } from "../../../src/dashboard/screens/workspace/MemberWords.ts"
import { workspaceWords } from "../../../src/dashboard/screens/workspace/Words.ts"
import { buttonNamed } from "./dialogs/DialogActions.ts"
import { vocabulary } from "../../../src/dashboard/words/Vocabulary.ts"
import { keyboardOf } from "./Keyboard.ts"
import { password } from "./Person.ts"

export type Language = "en" | "ja"

/** Wraps a single action of the person in an Effect. */
export const step = <A>(act: () => Promise<A>) => Effect.promise(act)

/** The key in base32 (RFC 4648), as an authenticator app expects it. */
const keyOf = (text: string): Uint8Array => {
  const bits = [...text.trim().replaceAll(" ", "")]
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
    .join("")
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

/** Returns a person's actions on a page, performed by keyboard in the person's language. */
export const personIn = (page: Page, language: Language, origin: string) => {
  const keys = keyboardOf(page)
  const { [language]: entrance } = signedOutWords
  const { [language]: join } = joinWords
  const { [language]: confirmation } = confirmIdentityWords
  const { [language]: people } = memberWords
  const { [language]: words } = workspaceWords
  const { [language]: automations } = automationWords
  const { [language]: account } = accountWords
  const { [language]: factor } = factorWords
  const { [language]: profile } = profileWords
  const { [language]: terms } = vocabulary
  const { [language]: app } = appWords
  const dialog = page.getByRole("dialog")
  const within = (place: Page | Locator, name: string) => place.getByRole("button", { name: buttonNamed(name) })
  const labelled = (place: Page | Locator, label: string) => place.getByLabel(new RegExp(`^${label}`)).first()
  const row = (name: string) => page.locator(".row-static", { hasText: name }).first()
  const closed = () => dialog.waitFor({ state: "detached" })
  const settings = (handle: string) => page.goto(`${origin}/w/${handle}/settings`)
  const secret = async () => (await page.locator(".secret-once code").first().textContent()) ?? ""
  const create = async (name: string, address: string) => {
    await keys.type(labelled(page, entrance.displayName), name)
    await keys.type(page.getByLabel(entrance.email), address)
    await keys.type(page.getByLabel(entrance.password, { exact: true }), password)
    await keys.submit()
    await page.waitForURL("**/w/*")
  }
  return {
    setUp: (link: string) =>
      step(async () => {
        await page.goto(link)
        await create("Mina", "mina@acme.example")
        return new URL(page.url()).pathname.split("/")[2] ?? ""
      }),
    invite: (handle: string) =>
      step(async () => {
        await settings(handle)
        await keys.press(within(page, people.invite))
        await keys.press(within(dialog, people.makeLink))
        const link = await secret()
        await page.keyboard.press("Escape")
        return link
      }),
    decline: (link: string) =>
      step(async () => {
        await page.goto(link)
        await keys.press(within(page, join.decline))
        await page.getByText(join.declined).waitFor()
      }),
    seesDeclined: (handle: string) =>
      step(async () => {
        await settings(handle)
        await page.getByText(people.status.declined).waitFor()
      }),
    withdraw: step(async () => {
      await keys.press(within(page, people.withdraw).first())
      await keys.press(within(dialog, people.withdraw))
      await closed()
      await page.getByText(people.status.revoked).waitFor()
    }),
    isRefused: (link: string) =>
      step(async () => {
        await page.goto(link)
        await page.getByRole("heading", { name: join.refusedTitle }).waitFor()
      }),
    join: (link: string) =>
      step(async () => {
        await page.goto(link)
        await page.getByText(join.role.member).waitFor()
        await create("Ken", "ken@acme.example")
      }),
    settings: (handle: string) => step(() => settings(handle)),
    workspaceId: step(() =>
      page.evaluate(async (): Promise<string> => {
        const { workspaces } = await (await fetch("/api/v1/workspaces")).json()
        return workspaces[0].id
      })
    ),
    seesRole: (name: string, role: "owner" | "admin" | "viewer") =>
      step(async () => {
        await row(name).waitFor()
        const shown = await row(name).evaluate(
          (found) => found.querySelector("select")?.selectedOptions[0]?.textContent ?? found.textContent
        )
        expect(shown).toContain(terms.role[role])
      }),
    signOut: step(async () => {
      await keys.press(page.getByRole("button", { name: app.accountMenu }))
      const item = page.getByRole("menuitem", { name: app.signOut })
      await item.waitFor()
      while (!(await item.evaluate((found) => found === document.activeElement))) await page.keyboard.press("ArrowDown")
      await keys.submit()
      await page.waitForURL("**/sign-in")
    }),
    cannotLeave: step(async () => {
      await keys.press(within(row("Mina"), people.leave))
      await keys.press(within(dialog, people.leave))
      await dialog.getByRole("alert").waitFor()
      await page.keyboard.press("Escape")
      await closed()
    }),
    /** The person's last confirmation is too old, so the page first asks for a new confirmation. */
    handOver: (name: string) =>
      step(async () => {
        await keys.press(within(row(name), people.handOver))
        await dialog.getByText(people.handOverText).waitFor()
        await keys.press(within(dialog, people.handOver))
        const question = page.getByRole("dialog", { name: confirmation.title })
        await keys.type(question.getByLabel(confirmation.password, { exact: true }), "not the password")
        await keys.submit()
        await question.getByText(confirmation.wrongPassword).waitFor()
        await question.getByLabel(confirmation.password, { exact: true }).fill("")
        await keys.type(question.getByLabel(confirmation.password, { exact: true }), password)
        await keys.submit()
        await question.waitFor({ state: "detached" })
        await closed()
        await row("Mina").locator(".tag", { hasText: terms.role.admin }).waitFor()
      }),
    /** Only owners see the field for handing over the Workspace. */
    ownsAfterReload: step(async () => {
      await page.reload()
      await page.getByLabel(words.changeRole("Mina")).waitFor()
    }),
    leave: step(async () => {
      await keys.press(within(row("Mina"), people.leave))
      await keys.press(within(dialog, people.leave))
      await page.waitForURL((url) => !url.pathname.endsWith("/settings"))
    }),
    seesRemoved: (name: string) =>
      step(async () => {
        await page.reload()
        await row(name).getByText(words.status.suspended).waitFor()
      }),
    addAutomation: (handle: string, name: string) =>
      step(async () => {
        await settings(handle)
        await keys.press(within(page, automations.add))
        await keys.type(labelled(dialog, automations.name), name)
        await keys.submit()
        await closed()
        await row(name).getByText(automations.tag, { exact: true }).waitFor()
      }),
    makeToken: (automation: string, name: string) =>
      step(async () => {
        await keys.press(within(row(automation), automations.tokens))
        await keys.press(within(dialog, automations.newToken))
        await keys.type(labelled(dialog, automations.tokenName), name)
        await keys.submit()
        await page.getByText(automations.onceText).waitFor()
        const made = await secret()
        await page.keyboard.press("Escape")
        await closed()
        expect(await page.content()).not.toContain(made)
        return made
      }),
    removeAutomation: (automation: string, token: string) =>
      step(async () => {
        await keys.press(within(row(automation), terms.remove))
        await dialog.getByText(automations.stopTokens).waitFor()
        await dialog.getByText(token).waitFor()
        await keys.press(within(dialog, terms.remove))
        await closed()
        await row(automation).getByText(words.status.suspended).waitFor()
      }),
    rename: (name: string) =>
      step(async () => {
        await page.goto(`${origin}/account`)
        await keys.press(within(page, profile.changeName))
        await keys.type(labelled(dialog, account.name), name)
        await keys.submit()
        await closed()
        await page.getByText(name).first().waitFor()
      }),
    /** Returns the key and the recovery codes. `present` is the time step of the code to enter. */
    turnOnFactor: (present: number) =>
      step(async () => {
        await page.goto(`${origin}/account`)
        await keys.press(within(page, factor.setUp))
        const key = keyOf((await secret()).replaceAll(" ", ""))
        await keys.type(labelled(dialog, factor.code), codeOf(key, present))
        await keys.submit()
        await page.getByText(factor.codesText).waitFor()
        const codes = (await secret()).trim().split("\n")
        await keys.press(within(page, factor.done))
        await page.getByText(factor.codesLeft(codes.length)).waitFor()
        expect(await page.content()).not.toContain(codes[0] ?? "none")
        return { key, codes }
      }),
    signIn: (address: string, code: string, refused?: string) =>
      step(async () => {
        await page.goto(`${origin}/sign-in`)
        await keys.type(page.getByLabel(entrance.email), address)
        await keys.type(page.getByLabel(entrance.password), password)
        await keys.submit()
        await page.getByText(entrance.codeWanted).waitFor()
        if (refused !== undefined) {
          await keys.type(page.getByLabel(entrance.code), refused)
          await keys.submit()
          await page.getByText(entrance.codeFailed).waitFor()
          await page.getByLabel(entrance.code).fill("")
        }
        await keys.type(page.getByLabel(entrance.code), code)
        await keys.submit()
        await page.waitForURL((url) => url.pathname !== "/sign-in")
      }),
    seesCodesLeft: (count: number) =>
      step(async () => {
        await page.goto(`${origin}/account`)
        await page.getByText(factor.codesLeft(count)).waitFor()
      }),
    /** Signs out the other devices individually. */
    signOutOthers: (count: number) =>
      step(async () => {
        await page.goto(`${origin}/account`)
        const others = within(page, account.endSession)
        await others.nth(count - 1).waitFor()
        for (let left = count; left > 0; left--) {
          await keys.press(others.first())
          if (left > 1) await others.nth(left - 1).waitFor({ state: "detached" })
          else await others.first().waitFor({ state: "detached" })
        }
      }),
    /** On those devices, the next action leads to the sign-in page. */
    isSignedOut: step(async () => {
      await page.reload()
      await page.waitForURL("**/sign-in*")
      await page.getByLabel(entrance.email).waitFor()
    })
  }
}
