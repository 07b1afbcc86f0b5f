import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { connectionWords } from "../../src/dashboard/screens/connections/Words.ts"
import { sampleWords } from "../../src/dashboard/screens/install/TrySample.tsx"
import { installWords } from "../../src/dashboard/screens/install/Words.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { signedOutWords } from "../../src/dashboard/signed-out/Words.ts"
import { it } from "../support/Effect.ts"
import { providerMirror } from "../support/ProviderMirror.ts"
import { startBrowser } from "./support/Browser.ts"
import { keyboardOf } from "./support/Keyboard.ts"
import { countKeyPresses } from "./support/KeyPresses.ts"
import { notesProvider, notesRepository } from "./support/NotesRepository.ts"
import { password } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

const words = installWords.en
const mostPresses = 30

const module = (notesDir: string) => `${notesProvider(notesDir)}
variable "who" {
  type        = string
  description = "Who is greeted"
}
resource "demo_note" "greeting" {
  name    = "greeting"
  content = "Hello, \${var.who}!"
}
output "greeting" {
  value = demo_note.greeting.content
}
`

const personAt = (page: Page) => {
  const keys = keyboardOf(page)
  const button = (place: Page | Locator, name: string) => place.getByRole("button", { name, exact: true })
  const hasFocus = (element: Locator) =>
    element.evaluate(
      (found) =>
        new Promise((done) => {
          const look = () => (found === document.activeElement ? done(true) : setTimeout(look, 50))
          look()
        })
    )
  return {
    setUp: async (link: string) => {
      await page.goto(link)
      await keys.type(page.getByLabel(new RegExp(`^${signedOutWords.en.displayName}`)), "Mina")
      await keys.type(page.getByLabel(signedOutWords.en.email), "mina@acme.example")
      await keys.type(page.getByLabel(signedOutWords.en.password, { exact: true }), password)
      await keys.submit()
      await page.waitForURL("**/w/*")
    },
    /** Makes svc read the repository, and fills in the install form. */
    describeInstall: async (url: string, token: string) => {
      await button(page, sampleWords.en.try).waitFor()
      await page.keyboard.press("n")
      await keys.type(page.getByLabel(words.url), url)
      await keys.submit()
      await hasFocus(page.locator("input[name=who]"))
      await page.keyboard.type("keyboard")
      await keys.press(button(page, words.connectionNew))
      const dialog = page.getByRole("dialog")
      await keys.type(dialog.getByLabel(connectionWords.en.displayName, { exact: true }).first(), "Notes")
      await keys.type(dialog.getByRole("group").getByLabel("Name"), "DEMO_TOKEN")
      await keys.type(dialog.getByRole("group").getByLabel("Value"), token)
      await keys.submit()
      await dialog.waitFor({ state: "detached" })
      await keys.press(button(page, words.makePlan))
    },
    /** Reviews the plan, opens the dialog with its shortcut key, approves and waits for the result. */
    approve: async () => {
      await page.getByRole("heading", { name: "Review this plan" }).waitFor({ timeout: 60_000 })
      await page.keyboard.press("a")
      const dialog = page.getByRole("dialog")
      await keys.press(button(dialog, decisionWords.en.approveAndApply))
      await page.locator(".page-name .status-good").waitFor({ timeout: 60_000 })
    },
    seesOutput: (value: string) => page.locator(".result").getByText(value).waitFor()
  }
}

describe("the main workflow by keyboard", () => {
  it.live(
    "the main workflow takes at most 30 key presses besides typed text, from the setup link to the outputs",
    () =>
      Effect.gen(function* () {
        const mirror = yield* providerMirror
        const repository = yield* notesRepository(module(mirror.notesDir))
        const server = yield* realServer(repository.origin, [
          `--provider-mirror=${mirror.path}`,
          "--runner-isolation=off"
        ])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const presses = yield* Effect.promise(() => countKeyPresses(page))
        const person = personAt(page)
        yield* Effect.promise(async () => {
          await person.setUp(server.setupLink)
          await person.describeInstall(repository.url, "t0ken-of-the-notes")
          await person.approve()
          await person.seesOutput("Hello, keyboard!")
        })
        expect(presses.length, presses.join(" ")).toBeLessThanOrEqual(mostPresses)
        expect(faults).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
