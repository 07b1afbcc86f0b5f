import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem, Path } from "effect"
import { it } from "../support/Effect.ts"
import { providerMirror } from "../support/ProviderMirror.ts"
import { startBrowser } from "./support/Browser.ts"
import { notesProvider, notesRepository } from "./support/NotesRepository.ts"
import { connectNotes, personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

const revision = (notesDir: string, greeting: string) => `${notesProvider(notesDir)}
resource "demo_note" "greeting" {
  name    = "greeting"
  content = "${greeting}, browser!"
}
output "greeting" {
  value = demo_note.greeting.content
}
`

/** Returns the path of the file that stores the real note. */
const noteFile = Effect.fnUntraced(function* (notesDir: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found = (yield* files.readDirectory(notesDir)).find((file) => file.startsWith("greeting-"))
  return path.join(notesDir, found ?? "missing")
})

describe("Undoing changes on a real server", () => {
  it.live(
    "a first-time user undoes drift from the page of the drift check, and rolls back from the history",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const mirror = yield* providerMirror
        const repository = yield* notesRepository(revision(mirror.notesDir, "Hello"))
        const server = yield* realServer(repository.origin, [
          `--provider-mirror=${mirror.path}`,
          "--runner-isolation=off"
        ])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, see, step, succeeded, type } = personAt(page, 60_000)
        const applied = Effect.gen(function* () {
          yield* reviewing
          yield* press("Approve and apply")
          yield* pressInDialog("Approve and apply")
          yield* heading("Apply · greeter")
          yield* succeeded
          yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
          yield* heading("greeter")
        })

        yield* setUp(page, server.setupLink)
        yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).click())
        yield* type("Git address", repository.url)
        yield* press("Read the repository")
        yield* type("Name", "greeter")
        yield* connectNotes(page, "t0ken")
        yield* press("Make the plan")
        yield* applied
        yield* repository.commit(revision(mirror.notesDir, "Good morning"), "Greet better")
        yield* press("Plan")
        yield* applied
        yield* see("Good morning, browser!")

        const note = yield* noteFile(mirror.notesDir)
        const written = yield* files.readFileString(note)
        yield* files.writeFileString(note, written.replace("Good morning", "Edited by hand"))
        yield* press("More actions")
        yield* step(() => page.getByRole("menuitem", { name: "Check for drift" }).click())
        yield* heading("Drift check · greeter")
        yield* see("Edited by hand, browser!")
        yield* press("Put it back")
        yield* heading("Plan · greeter")
        yield* see("This plan reverts changes made outside svc, at the deployed revision.")
        yield* applied
        expect(yield* files.readFileString(note)).toContain('"Good morning, browser!"')
        expect(yield* Effect.promise(() => page.getByRole("button", { name: "Put it back" }).count())).toBe(0)

        yield* step(() => page.getByRole("link", { name: "History", exact: true }).click())
        // The history is newest first, so the last state is the oldest.
        const roll = page.getByRole("button", { name: /^Roll back to this/ })
        yield* step(() => roll.last().click({ timeout: 60_000 }))
        yield* type("Why", "The greeting was better before")
        yield* pressInDialog("Plan the rollback")
        yield* heading("Plan · greeter")
        yield* see("This plan returns the capsule to the revision and configuration of an earlier state.")
        yield* applied
        yield* see("Hello, browser!")
        // The page must not suggest the commit that was just rolled back.
        expect(yield* Effect.promise(() => page.getByRole("button", { name: "Plan the update" }).count())).toBe(0)
        expect(faults).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
