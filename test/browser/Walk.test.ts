import { NodeServices } from "@effect/platform-node"
import { describe } from "bun:test"
import { Effect, FileSystem, Path } from "effect"
import { it } from "../support/Effect.ts"
import { providerMirror } from "../support/ProviderMirror.ts"
import { startBrowser } from "./support/Browser.ts"
import { notesProvider, notesRepository } from "./support/NotesRepository.ts"
import { connectNotes, personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"

const statements = (effect: string) => Array.from({ length: 12 }, (_, n) => ({ Sid: `Rule${n}`, Effect: n === 7 ? effect : "Allow", Action: ["s3:GetObject"], Resource: `arn:aws:s3:::bucket-${n}/*` }))
const module = (notesDir: string, effect: string) => `${notesProvider(notesDir)}
resource "demo_note" "policy" {
  name    = "policy"
  content = jsonencode(${JSON.stringify({ Version: "2012-10-17", Statement: statements(effect) })})
}
resource "demo_note" "motd" {
  name    = "motd"
  content = "Welcome"
}
output "policy" {
  value = demo_note.policy.content
}
`
describe("walk", () => {
  it.live("walk", () => Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const mirror = yield* providerMirror
    const repository = yield* notesRepository(module(mirror.notesDir, "Allow"))
    const consumer = yield* notesRepository(`variable "policy" {\n  type = string\n}\nresource "terraform_data" "reader" {\n  input = var.policy\n}\noutput "seen" {\n  value = terraform_data.reader.output\n}\n`)
    const server = yield* realServer(`${repository.origin},${consumer.origin}`, [`--provider-mirror=${mirror.path}`, "--runner-isolation=off"])
    const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (b) => Effect.promise(() => b.close()))
    const { page, faults } = yield* Effect.promise(() => browser.open({ language: "en", theme: "light", width: 1440, height: 1000 }))
    const { heading, press, pressInDialog, reviewing, see, step, succeeded, type } = personAt(page, 90_000)
    let n = 0
    const shot = (name: string) => step(() => page.screenshot({ path: `/tmp/dash/walk/${String(++n).padStart(2, "0")}-${name}.png`, fullPage: true }))
    yield* step(() => page.goto(server.setupLink)); yield* step(() => page.locator("input").first().waitFor()); yield* shot("setup")
    yield* setUp(page, server.setupLink); yield* shot("home-empty")
    yield* press("Try it without a repository"); yield* reviewing; yield* shot("sample-plan")
    yield* press("Approve and apply"); yield* shot("sample-dialog"); yield* pressInDialog("Approve and apply"); yield* heading("Apply · hello"); yield* succeeded; yield* shot("sample-applied")
    yield* step(() => page.locator(".trail").getByRole("link", { name: "hello" }).click()); yield* step(() => page.locator(".tabs").waitFor()); yield* see("Good morning"); yield* shot("sample-capsule")
    yield* step(() => page.keyboard.press("n")); yield* type("Git address", repository.url); yield* shot("install"); yield* press("Read the repository"); yield* step(() => page.locator("input[name=capsule-name]").waitFor()); yield* type("Name", "policy"); yield* shot("install-inputs")
    yield* connectNotes(page, "t0ken"); yield* shot("install-connected"); yield* press("Make the plan"); yield* heading("Plan · policy"); yield* reviewing; yield* press("Approve and apply"); yield* pressInDialog("Approve and apply"); yield* heading("Apply · policy"); yield* succeeded; yield* shot("policy-applied")
    yield* step(() => page.locator(".trail").getByRole("link", { name: "policy" }).click()); yield* step(() => page.locator(".tabs").waitFor())
    const capsule = page.url()
    // the consumer
    yield* step(() => page.keyboard.press("n")); yield* type("Git address", consumer.url); yield* press("Read the repository"); yield* step(() => page.locator("input[name=capsule-name]").waitFor()); yield* type("Name", "reader")
    yield* step(() => page.getByText("Take inputs from other capsules", { exact: false }).first().click().catch(() => page.locator("details.fold summary").first().click())); yield* shot("install-from")
    yield* step(async () => {
      await page.getByRole("button", { name: /Add/ }).first().click()
      const selects = page.locator(".flow select")
      await selects.nth(0).selectOption("policy")
      await selects.nth(1).selectOption({ label: "policy · production" }).catch(async () => selects.nth(1).selectOption({ index: 1 }))
      await page.locator(".flow input").first().fill("policy")
    }); yield* shot("install-from-filled")
    yield* press("Make the plan"); yield* heading("Plan · reader"); yield* reviewing; yield* press("Approve and apply"); yield* pressInDialog("Approve and apply"); yield* heading("Apply · reader"); yield* succeeded
    // second commit
    yield* repository.commit(module(mirror.notesDir, "Deny"), "Deny rule 7")
    yield* step(() => page.goto(capsule)); yield* step(() => page.locator(".tabs").waitFor()); yield* shot("policy-capsule")
    yield* press("Plan"); yield* reviewing; yield* step(() => page.locator(".log-line").first().waitFor()); yield* shot("policy-review")
    yield* press("Approve and apply"); yield* shot("policy-dialog"); yield* pressInDialog("Approve and apply"); yield* heading("Apply · policy"); yield* succeeded; yield* shot("policy-applied-2")
    const plans = page.url()
    yield* step(() => page.goto(new URL("/", capsule).href)); yield* step(() => page.locator("h1").waitFor()); yield* step(() => page.waitForLoadState("networkidle")); yield* shot("home-stale")
    // drift
    const found = (yield* files.readDirectory(mirror.notesDir)).find((file) => file.startsWith("motd-"))
    const note = path.join(mirror.notesDir, found ?? "missing")
    yield* files.writeFileString(note, (yield* files.readFileString(note)).replace("Welcome", "Hacked"))
    yield* step(() => page.goto(capsule)); yield* step(() => page.getByRole("button", { name: "More actions" }).click()); yield* shot("more-actions"); yield* step(() => page.getByRole("menuitem", { name: "Check for drift" }).click())
    yield* heading("Drift check · policy"); yield* step(() => page.locator(".page-name .status-attention", { hasText: "Drift found" }).waitFor({ timeout: 90_000 })); yield* shot("drift-run")
    yield* press("Put it back"); yield* heading("Plan · policy"); yield* reviewing; yield* shot("drift-plan"); yield* press("Approve and apply"); yield* pressInDialog("Approve and apply"); yield* heading("Apply · policy"); yield* succeeded; yield* shot("drift-applied")
    yield* step(() => page.goto(`${capsule}/history`)); yield* step(() => page.locator(".history li").first().waitFor()); yield* step(() => page.waitForLoadState("networkidle")); yield* shot("history")
    yield* step(() => page.getByRole("button", { name: /^Roll back to this/ }).last().click()); yield* shot("rollback-dialog"); yield* step(() => page.getByRole("dialog").locator(".form-actions button, .dialog-body button.button-primary").first().click()); yield* heading("Plan · policy"); yield* reviewing; yield* shot("rollback-plan")
    yield* press("Approve and apply"); yield* pressInDialog("Approve and apply"); yield* heading("Apply · policy"); yield* succeeded; yield* shot("rollback-applied")
    yield* step(() => page.goto(capsule)); yield* step(() => page.locator(".tabs").waitFor()); yield* step(() => page.waitForLoadState("networkidle")); yield* shot("after-rollback")
    yield* step(() => page.goto(new URL("/", capsule).href)); yield* step(() => page.locator("h1").waitFor()); yield* step(() => page.waitForLoadState("networkidle")); yield* shot("home-end")
    yield* step(() => page.goto(`${new URL(page.url()).href}/settings/approvals`)); yield* step(() => page.waitForLoadState("networkidle")); yield* shot("approvals")
    console.log(faults, plans)
  }).pipe(Effect.provide(NodeServices.layer)), 560_000)
})
