import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem, Path, Schedule } from "effect"
import { serveRepository } from "../../runner/git/GitServer.ts"
import { commitFiles, createRepository } from "../../runner/git/RepositoryWriter.ts"
import { it } from "../support/Effect.ts"
import { countCreations, providerMirror } from "../support/ProviderMirror.ts"
import { startBrowser } from "./support/Browser.ts"
import { personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

/** Three notes, one after the other; the last one is there long before its apply hears of it. */
const module = (notesDir: string) => `
terraform {
  required_providers {
    demo = { source = "acme/demo", version = "1.0.0" }
  }
}
provider "demo" {
  dir = ${JSON.stringify(notesDir)}
}
resource "demo_note" "first" {
  name    = "first"
  content = "hello"
}
resource "demo_note" "second" {
  name       = "second"
  content    = "hello"
  delay_ms   = 1500
  depends_on = [demo_note.first]
}
resource "demo_note" "slow" {
  name           = "slow"
  content        = "hello"
  delay_after_ms = 60000
  depends_on     = [demo_note.second]
}
`

const slowRepository = Effect.fnUntraced(function* (notesDir: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const gitdir = path.join(yield* files.makeTempDirectoryScoped({ prefix: "dashboard-git-" }), "repository.git")
  yield* createRepository({ gitdir })
  yield* commitFiles({ gitdir, message: "Three notes", files: { "main.tf": module(notesDir) } })
  return yield* serveRepository({ gitdir })
})

describe("an apply, with the real server, tool and provider", () => {
  it.live(
    "is watched over a cut in the network, and its end is told after the server was killed in the middle",
    () =>
      Effect.gen(function* () {
        const mirror = yield* providerMirror
        const repository = yield* slowRepository(mirror.notesDir)
        // Without a sandbox, as the provider of this test is a script whose interpreter lies anywhere.
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
        yield* press("Create a connection")
        yield* step(() => page.getByRole("dialog").getByLabel("Name", { exact: true }).first().fill("Notes"))
        yield* step(() => page.getByRole("dialog").getByRole("group").getByLabel("Name").fill("DEMO_TOKEN"))
        yield* step(() => page.getByRole("dialog").getByRole("group").getByLabel("Value").fill("t0ken-of-the-notes"))
        yield* pressInDialog("Save")
        yield* step(() => page.getByRole("dialog").waitFor({ state: "detached" }))
        yield* press("Make the plan")
        yield* heading("Plan · notes")
        yield* reviewing
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · notes")

        yield* see("demo_note.first: Creation complete")
        yield* server.network.cut
        yield* see("Connection lost. It resumes by itself.")
        yield* created(2)
        yield* server.network.restore
        yield* see("demo_note.second: Creation complete")
        const lines = yield* Effect.promise(() => page.locator(".log-line").allTextContents())
        expect(lines.filter((line) => line.includes("demo_note.first: Creation complete"))).toHaveLength(1)
        expect(lines.filter((line) => line.includes("demo_note.second: Creation complete"))).toHaveLength(1)

        yield* created(3)
        yield* server.crash
        yield* see("Connection lost. It resumes by itself.")
        yield* server.startAgain
        yield* step(() => page.getByRole("heading", { name: "Why it failed" }).waitFor({ timeout: 60_000 }))
        yield* see("Check these by hand")
        yield* step(() => page.locator(".addresses", { hasText: "demo_note.slow" }).waitFor())
        yield* see("What really exists is uncertain")
        expect(yield* Effect.promise(() => page.locator("body").textContent())).not.toContain("t0ken-of-the-notes")

        yield* press("Plan again")
        yield* heading("Plan · notes")
        yield* reviewing
        yield* see("demo_note.slow")
        expect(yield* countCreations(mirror.notesDir)).toBe(3)
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
