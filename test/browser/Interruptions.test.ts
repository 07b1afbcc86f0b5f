import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem, Path, Schedule } from "effect"
import { it } from "../support/Effect.ts"
import { countCreations, providerMirror } from "../support/ProviderMirror.ts"
import { startBrowser } from "./support/Browser.ts"
import { notesProvider, notesRepository } from "./support/NotesRepository.ts"
import { connectNotes, personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

/** Returns a module that creates three notes, one after another. */
const module = (notesDir: string) => `${notesProvider(notesDir)}
resource "demo_note" "first" {
  name    = "first"
  content = "hello"
}
resource "demo_note" "second" {
  name       = "second"
  content    = "hello"
  depends_on = [demo_note.first]
}
resource "demo_note" "slow" {
  name       = "slow"
  content    = "hello"
  depends_on = [demo_note.second]
}
`

/** Creates files that make the provider wait between creating a note and reporting it to the tool. */
const holding = Effect.fnUntraced(function* (notesDir: string, note: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(notesDir, `hold-apply-${note}`)
  yield* files.writeFileString(file, "")
  return { release: files.remove(file) }
})

describe("Interrupted applies", () => {
  it.live(
    "the page follows an apply through a network outage, and shows its result after the server was killed and restarted",
    () =>
      Effect.gen(function* () {
        const mirror = yield* providerMirror
        const repository = yield* notesRepository(module(mirror.notesDir))
        const second = yield* holding(mirror.notesDir, "second")
        yield* holding(mirror.notesDir, "slow")
        // Runs have no sandbox, because this test's provider is a script and its interpreter may be anywhere.
        const server = yield* realServer(repository.origin, [
          `--provider-mirror=${mirror.path}`,
          "--runner-isolation=off"
        ])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, see, step, type } = personAt(page, 60_000)
        const created = (count: number) =>
          countCreations(mirror.notesDir).pipe(
            Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (notes) => notes >= count }),
            Effect.timeout("60 seconds")
          )

        yield* setUp(page, server.setupLink)
        yield* step(() => page.goto(`${server.network.origin}/new?git=${encodeURIComponent(repository.url)}`))
        yield* press("Read the repository")
        yield* type("Name", "notes")
        yield* connectNotes(page, "t0ken-of-the-notes")
        yield* press("Make the plan")
        yield* heading("Plan · notes")
        yield* reviewing
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · notes")

        yield* see("demo_note.first: Creation complete")
        yield* created(2)
        yield* step(() => page.context().setOffline(true))
        // `setOffline` affects only new requests, so the test also drops open connections.
        yield* server.network.cut
        yield* see("Connection lost. It resumes automatically.")
        yield* second.release
        yield* created(3)
        yield* server.network.restore
        yield* step(() => page.context().setOffline(false))
        yield* see("demo_note.second: Creation complete")
        const lines = yield* Effect.promise(() => page.locator(".log-line").allTextContents())
        expect(lines.filter((line) => line.includes("demo_note.first: Creation complete"))).toHaveLength(1)
        expect(lines.filter((line) => line.includes("demo_note.second: Creation complete"))).toHaveLength(1)

        yield* server.crash
        yield* see("Connection lost. It resumes automatically.")
        yield* server.startAgain
        yield* step(() => page.getByRole("heading", { name: "Why it failed" }).waitFor({ timeout: 60_000 }))
        yield* see("Check these by hand")
        yield* step(() => page.locator(".addresses", { hasText: "demo_note.slow" }).waitFor())
        yield* see("It is uncertain which objects exist")
        expect(yield* Effect.promise(() => page.locator("body").textContent())).not.toContain("t0ken-of-the-notes")

        yield* press("Plan again")
        yield* heading("Plan · notes")
        yield* reviewing
        // The address also occurs in the diagnostic's collapsed details, so the test looks for a visible match.
        yield* step(() => page.getByText("demo_note.slow").filter({ visible: true }).first().waitFor())
        expect(yield* countCreations(mirror.notesDir)).toBe(3)
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
