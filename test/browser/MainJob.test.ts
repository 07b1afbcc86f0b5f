import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

const runTimeout = 60_000

describe("the main job, with the real server and the real tool", () => {
  it.live(
    "from the setup link over an install, an update and its live apply to the destruction",
    () =>
      Effect.gen(function* () {
        const { repository, setupLink } = yield* realServer
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const step = (act: () => Promise<unknown>) => Effect.promise(act)
        const heading = (name: string | RegExp) =>
          page.getByRole("heading", { level: 1, name }).waitFor({ timeout: runTimeout })
        const press = (name: string) =>
          page.getByRole("button", { name, exact: true }).first().click({ timeout: runTimeout })
        const succeeded = () => page.locator(".page-name .status-good").waitFor({ timeout: runTimeout })

        yield* step(() => page.goto(setupLink))
        yield* step(() => page.getByLabel("Your name").fill("Mina"))
        yield* step(() => page.getByLabel("E-mail address").fill("mina@acme.example"))
        yield* step(() => page.getByLabel("Password").fill("correct horse battery staple"))
        yield* step(() => press("Create account"))
        yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).click())

        yield* step(() => page.getByLabel("Git address").fill(repository.url))
        yield* step(() => press("Read the repository"))
        yield* step(() => page.getByLabel("Name", { exact: true }).fill("greeter"))
        yield* step(() => page.locator("input[name=name]").fill("browser"))
        yield* step(() => press("Make the plan"))
        yield* step(() => heading("Plan · greeter"))
        yield* step(() => page.getByRole("heading", { name: "Review this plan" }).waitFor({ timeout: runTimeout }))
        yield* step(() => page.getByText("terraform_data.greeting").first().waitFor())
        yield* step(() => press("Approve and apply"))
        yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Approve and apply" }).click())
        yield* step(() => heading("Apply · greeter"))
        yield* step(succeeded)
        yield* step(() => page.locator(".log-line").first().waitFor())
        expect(yield* Effect.promise(() => page.locator(".resource-done code").allTextContents())).toEqual([
          "terraform_data.greeting"
        ])

        yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
        yield* step(() => page.getByText("Hello, browser!").waitFor())

        const capsule = page.url()
        yield* repository.commitSecond
        yield* step(() => page.locator(".facts a").first().click())
        yield* step(() => press("Sync now"))
        yield* step(succeeded)
        yield* step(() => page.goto(capsule))
        yield* step(() => press("Plan the update"))
        yield* step(() => page.getByRole("heading", { name: "Review this plan" }).waitFor({ timeout: runTimeout }))
        yield* step(() => page.getByText("terraform_data.farewell").first().waitFor())
        yield* step(() => press("Approve and apply"))
        yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Approve and apply" }).click())
        yield* step(() => heading("Apply · greeter"))
        yield* step(succeeded)
        yield* step(() => page.goto(capsule))
        yield* step(() => page.getByText("Good morning, browser!").waitFor())

        yield* step(() => page.getByRole("button", { name: "More actions" }).click())
        yield* step(() => page.getByRole("menuitem", { name: "Check for drift" }).click())
        yield* step(() => heading("Drift check · greeter"))
        yield* step(succeeded)

        yield* step(() => page.goto(`${capsule}/danger`))
        yield* step(() => press("Plan the destruction"))
        yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Plan the destruction" }).click())
        yield* step(() => heading("Destroy plan · greeter"))
        yield* step(() => press("Approve and destroy"))
        yield* step(() => page.getByLabel("Type greeter to confirm").fill("greeter"))
        yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Approve and destroy" }).click())
        yield* step(() => heading("Destroy · greeter"))
        yield* step(succeeded)
        yield* step(() => page.goto(capsule))
        yield* step(() => page.getByText("This capsule was destroyed. Its history stays.").waitFor())
        expect(faults).toEqual([])
      }),
    240_000
  )
})
