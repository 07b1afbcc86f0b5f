import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem, Path } from "effect"
import { it } from "../support/Effect.ts"
import { countCreations, providerMirror } from "../support/ProviderMirror.ts"
import { addPasskey, withAuthenticator } from "./support/Authenticator.ts"
import { startBrowser } from "./support/Browser.ts"
import { notesProvider, notesRepository } from "./support/NotesRepository.ts"
import { connectNotes, personAt, setUp, signInByPassword, signOut } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

const token = "t0ken-of-the-notes"

const firstRevision = (notesDir: string) => `${notesProvider(notesDir)}
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

const secondRevision = (notesDir: string) => `${firstRevision(notesDir).replace("Hello", "Good morning")}
resource "demo_note" "farewell" {
  name    = "farewell"
  content = "Goodbye, \${var.who}!"
}
`

/** Edits the real resource without the tool, so that the tool's state becomes out of date. */
const editNote = Effect.fnUntraced(function* (notesDir: string, name: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found = (yield* files.readDirectory(notesDir)).find((file) => file.startsWith(`${name}-`))
  const note = path.join(notesDir, found ?? "missing")
  yield* files.writeFileString(note, (yield* files.readFileString(note)).replace("Good morning", "Edited by hand"))
})

/** Returns the number of notes. */
const notesLeft = Effect.fnUntraced(function* (notesDir: string) {
  const files = yield* FileSystem.FileSystem
  return (yield* files.readDirectory(notesDir)).filter((file) => file.endsWith(".json")).length
})

describe("Main job", () => {
  it.live(
    "the dashboard supports the main workflow, from the setup link to the destruction of the capsule's resources",
    () =>
      Effect.gen(function* () {
        const mirror = yield* providerMirror
        const repository = yield* notesRepository(firstRevision(mirror.notesDir))
        // Runs have no sandbox, because this test's provider is a script and its interpreter may be anywhere.
        const server = yield* realServer(repository.origin, [
          `--provider-mirror=${mirror.path}`,
          "--runner-isolation=off"
        ])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, see, step, succeeded, type } = personAt(page, 60_000)
        const install = page.locator(".empty").getByRole("link", { name: "Install" })

        yield* withAuthenticator(page)
        yield* setUp(page, server.setupLink)
        yield* addPasskey(page, server.network.origin, "this machine")
        yield* signOut(page)
        yield* press("Sign in with a passkey")
        yield* step(() => install.waitFor())
        yield* signOut(page)
        yield* signInByPassword(page)
        yield* step(() => install.click())

        yield* type("Git address", repository.url)
        yield* press("Read the repository")
        yield* type("Name", "greeter")
        yield* step(() => page.locator("input[name=who]").fill("browser"))
        yield* connectNotes(page, token)
        yield* press("Make the plan")
        yield* heading("Plan · greeter")
        yield* reviewing
        yield* see("demo_note.greeting")
        expect(yield* countCreations(mirror.notesDir)).toBe(0)
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · greeter")
        yield* succeeded
        yield* step(() => page.locator(".log-line").first().waitFor())
        expect(yield* Effect.promise(() => page.locator(".resource-done code").allTextContents())).toEqual([
          "demo_note.greeting"
        ])
        expect(yield* countCreations(mirror.notesDir)).toBe(1)

        yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
        yield* see("Hello, browser!")

        const capsule = page.url()
        yield* repository.commit(secondRevision(mirror.notesDir), "Greet better, and say goodbye")
        yield* step(() => page.locator(".facts a").first().click())
        yield* press("Sync now")
        yield* succeeded
        yield* step(() => page.goto(capsule))
        yield* press("Plan the update")
        yield* reviewing
        yield* see("demo_note.farewell")
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · greeter")
        yield* succeeded
        yield* step(() => page.goto(capsule))
        yield* see("Good morning, browser!")

        yield* editNote(mirror.notesDir, "greeting")
        yield* step(() => page.getByRole("button", { name: "More actions" }).click())
        yield* step(() => page.getByRole("menuitem", { name: "Check for drift" }).click())
        yield* heading("Drift check · greeter")
        yield* step(() =>
          page.locator(".page-name .status-attention", { hasText: "Drift found" }).waitFor({ timeout: 60_000 })
        )
        yield* step(async () => {
          const row = page.locator(".change", { hasText: "greeting" }).first()
          await row.waitFor()
          if ((await row.getAttribute("open")) === null) await row.locator("summary").click()
          await row.filter({ hasText: "Edited by hand, browser!" }).waitFor()
        })
        yield* step(() => page.goto(capsule))
        yield* see("The real infrastructure differs from the state")

        yield* step(() => page.goto(`${capsule}/danger`))
        yield* press("Plan the destruction")
        yield* pressInDialog("Plan the destruction")
        yield* heading("Destroy plan · greeter")
        yield* press("Approve and destroy")
        yield* type("Type greeter to confirm", "greeter")
        yield* pressInDialog("Approve and destroy")
        yield* heading("Destroy · greeter")
        yield* succeeded
        yield* step(() => page.goto(capsule))
        yield* see("Destroyed. The history of this capsule remains available.")
        expect(yield* notesLeft(mirror.notesDir)).toBe(0)
        expect(yield* Effect.promise(() => page.content())).not.toContain(token)
        expect(faults).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
