import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { importConfirmationWords } from "../../src/dashboard/screens/capsule/ImportConfirmationWords.ts"
import { releaseWords } from "../../src/dashboard/screens/capsule/ReleaseWords.ts"
import { importWords } from "../../src/dashboard/screens/install/ImportWords.ts"
import { backupWords } from "../../src/dashboard/screens/workspace/BackupWords.ts"
import { workspaceWords } from "../../src/dashboard/screens/workspace/Words.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { notesRepository } from "./support/NotesRepository.ts"
import { personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

const module = `
resource "terraform_data" "greeting" {
  input = "Hello"
}
output "greeting" {
  value = terraform_data.greeting.output
}
`
const [oldKey, newKey] = ["1".repeat(64), "2".repeat(64)]
const { en: moving } = importWords
const { en: confirmation } = importConfirmationWords
const { en: released } = releaseWords
const { en: backups } = backupWords
const { en: workspace } = workspaceWords

const nameOf = (url: string) => new URL(url).pathname.split("/")[2] ?? ""

describe.skipIf(Bun.which("terraform") === null)("Moving capsules", () => {
  it.live(
    "a capsule is backed up, released, imported elsewhere, confirmed and planned without changes",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const repository = yield* notesRepository(module)
        const keys = yield* files.makeTempDirectoryScoped({ prefix: "dashboard-keys-" })
        yield* files.writeFileString(`${keys}/old`, oldKey ?? "", { mode: 0o600 })
        yield* files.writeFileString(`${keys}/new`, `${newKey},${oldKey}`, { mode: 0o600 })
        const from = yield* realServer(repository.origin, [`--master-key-file=${keys}/old`, "--runner-isolation=off"])
        const to = yield* realServer(repository.origin, [`--master-key-file=${keys}/new`, "--runner-isolation=off"])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, see, step, succeeded, type } = personAt(page, 60_000)
        const read = Effect.gen(function* () {
          yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).click())
          yield* type("Git address", repository.url)
          yield* press("Read the repository")
          yield* type("Name", "greeter")
        })
        const applied = Effect.gen(function* () {
          yield* press("Approve and apply")
          yield* pressInDialog("Approve and apply")
          yield* heading("Apply · greeter")
          yield* succeeded
        })

        yield* setUp(page, from.setupLink)
        const old = `${from.network.origin}/w/${nameOf(page.url())}`
        yield* read
        yield* press("Make the plan")
        yield* reviewing
        yield* applied
        yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
        yield* see("Hello")
        const original = page.url()

        yield* step(() => page.goto(`${old}/settings/backups`))
        yield* press(workspace.backUp)
        const button = page.getByRole("button", { name: backups.download, exact: true }).first()
        const download = yield* Effect.promise(async () => {
          await button.waitFor()
          const [file] = await Promise.all([page.waitForEvent("download"), button.click()])
          return { name: file.suggestedFilename(), path: await file.path() }
        })
        expect(download.name).toEndWith(".svc-backup.json")

        yield* step(() => page.goto(`${original}/danger`))
        yield* press(released.release)
        yield* step(() => page.getByLabel(released.why).selectOption("moved_elsewhere"))
        yield* type(vocabulary.en.typeName("greeter"), "greeter")
        yield* pressInDialog(released.release)
        yield* see(released.ended.moved_elsewhere)

        yield* setUp(page, to.setupLink)
        yield* read
        yield* step(async () => {
          await page.getByText(moving.title).click()
          await page.getByLabel(moving.file).setInputFiles(download.path)
        })
        yield* press(moving.upload)
        yield* see(moving.from("greeter"))
        yield* press(moving.create)
        yield* see(confirmation.title)
        const imported = page.url()
        yield* press(confirmation.confirm)
        yield* type(vocabulary.en.typeName("greeter"), "greeter")
        yield* pressInDialog(confirmation.confirm)
        yield* step(() => page.getByText(confirmation.title).waitFor({ state: "detached" }))
        yield* press("Plan")
        yield* reviewing
        expect(yield* Effect.promise(() => page.locator(".change").count())).toBe(0)
        yield* applied
        yield* step(() => page.goto(imported))
        yield* see("Hello")
        expect(faults).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
