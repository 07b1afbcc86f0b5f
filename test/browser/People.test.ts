import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Clock, Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { codeOf } from "../../actors/account/Totp.ts"
import { joinWords } from "../../src/dashboard/entrance/JoinWords.ts"
import { entranceWords } from "../../src/dashboard/entrance/Words.ts"
import { factorWords } from "../../src/dashboard/screens/account/FactorWords.ts"
import { profileWords } from "../../src/dashboard/screens/account/ProfileWords.ts"
import { accountWords } from "../../src/dashboard/screens/account/Words.ts"
import { automationWords } from "../../src/dashboard/screens/workspace/AutomationWords.ts"
import { memberWords } from "../../src/dashboard/screens/workspace/MemberWords.ts"
import { workspaceWords } from "../../src/dashboard/screens/workspace/Words.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { it } from "../support/Effect.ts"
import { startBrowser, type TestBrowser } from "./support/Browser.ts"
import { keyboardOf } from "./support/Keyboard.ts"
import { password } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"

type Language = "en" | "ja"

/** Nothing listens there: the test reads no Git server. */
const noGit = "http://127.0.0.1:9"

const step = <A>(act: () => Promise<A>) => Effect.promise(act)
const stepMillis = 30_000

/** The key as an authenticator app reads it (RFC 4648, base 32). */
const keyOf = (text: string): Uint8Array => {
  const bits = [...text.trim().replaceAll(" ", "")]
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
    .join("")
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

/** What a person does on a page, by keyboard and in their language. */
const personIn = (page: Page, language: Language, origin: string) => {
  const keys = keyboardOf(page)
  const { [language]: entrance } = entranceWords
  const { [language]: people } = memberWords
  const { [language]: words } = workspaceWords
  const { [language]: automations } = automationWords
  const { [language]: account } = accountWords
  const { [language]: factor } = factorWords
  const { [language]: profile } = profileWords
  const { [language]: terms } = vocabulary
  const dialog = page.getByRole("dialog")
  const within = (place: Page | Locator, name: string) => place.getByRole("button", { name, exact: true })
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
        await keys.type(labelled(dialog, people.email), "")
        await keys.submit()
        const link = await secret()
        await page.keyboard.press("Escape")
        return link
      }),
    join: (link: string) =>
      step(async () => {
        await page.goto(link)
        await page.getByText(joinWords[language].role.member).waitFor()
        await create("Ken", "ken@acme.example")
      }),
    settings: (handle: string) => step(() => settings(handle)),
    cannotLeave: step(async () => {
      await keys.press(within(row("Mina"), people.leave))
      await keys.press(within(dialog, people.leave))
      await dialog.getByRole("alert").waitFor()
      await page.keyboard.press("Escape")
      await closed()
    }),
    handOver: (name: string) =>
      step(async () => {
        await keys.press(within(row(name), people.handOver))
        await dialog.getByText(people.handOverText).waitFor()
        await keys.press(within(dialog, people.handOver))
        await closed()
        await row("Mina").locator(".tag", { hasText: terms.role.admin }).waitFor()
      }),
    /** Only an owner has this field. */
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
    /** Returns the time step whose code was used, the key, and the recovery codes. */
    turnOnFactor: (present: number) =>
      step(async () => {
        await page.goto(`${origin}/account`)
        await keys.press(within(page, factor.setUp))
        const key = keyOf(await secret())
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
    /** All other devices, one by one. */
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
    /** The next thing they do leads to the sign-in. */
    isSignedOut: step(async () => {
      await page.reload()
      await page.waitForURL("**/sign-in*")
      await page.getByLabel(entrance.email).waitFor()
    })
  }
}

const asked = (origin: string, token: string) =>
  step(() => fetch(`${origin}/api/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } })).pipe(
    Effect.map(({ status }) => status)
  )

/** Refusals that the walk asks for, and the page of an invitation, which asks who is signed in. */
const unexpected = (faults: ReadonlyArray<string>) => faults.filter((text) => !/status of 4(?:01|03|09)/.test(text))

const world = Effect.gen(function* () {
  const { network, setupLink } = yield* realServer(noGit)
  const browser: TestBrowser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const seen: Array<ReadonlyArray<string>> = []
  const open = (language: Language) =>
    step(async () => {
      const { faults, page } = await browser.open({ language, theme: language === "en" ? "light" : "dark" })
      seen.push(faults)
      return personIn(page, language, network.origin)
    })
  return { network, setupLink, open, faults: () => seen.map(unexpected) }
})

describe.each([
  ["en", "ja"],
  ["ja", "en"]
] as const)("two people at once, the first in %s and the second in %s, by keyboard", (first, second) => {
  it.live(
    "hand a Workspace over, and leave it; an automation has a token that ends with it",
    () =>
      Effect.gen(function* () {
        const { faults, network, open, setupLink } = yield* world
        const [mina, ken] = yield* Effect.all([open(first), open(second)])
        const handle = yield* mina.setUp(setupLink)
        yield* ken.join(yield* mina.invite(handle))

        yield* mina.addAutomation(handle, "deploys")
        const token = yield* mina.makeToken("deploys", "pipeline")
        expect(yield* asked(network.origin, token)).toBe(200)
        yield* mina.removeAutomation("deploys", "pipeline")
        expect(yield* asked(network.origin, token)).toBe(401)

        yield* ken.settings(handle)
        yield* mina.settings(handle)
        yield* mina.cannotLeave
        yield* mina.handOver("Ken")
        yield* ken.ownsAfterReload
        yield* mina.leave
        yield* ken.seesRemoved("Mina")
        expect(faults()).toEqual([[], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )

  it.live(
    "turn on a second factor, sign in with it elsewhere, and sign the other devices out",
    () =>
      Effect.gen(function* () {
        const { faults, open, setupLink } = yield* world
        const [here, there, elsewhere] = yield* Effect.all([open(first), open(second), open(second)])
        yield* here.setUp(setupLink)
        yield* here.rename("!")
        const present = Math.floor((yield* Clock.currentTimeMillis) / stepMillis)
        const { codes, key } = yield* here.turnOnFactor(present)
        const [recovery = ""] = codes
        // The code that turned it on is used; the next one counts already.
        yield* there.signIn("mina@acme.example", codeOf(key, present + 1), codeOf(key, present))
        yield* elsewhere.signIn("mina@acme.example", recovery)
        yield* here.seesCodesLeft(codes.length - 1)
        yield* here.signOutOthers(2)
        yield* Effect.all([there.isSignedOut, elsewhere.isSignedOut])
        yield* elsewhere.signIn("mina@acme.example", codes[1] ?? "", recovery)
        expect(faults()).toEqual([[], [], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
