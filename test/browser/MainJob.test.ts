import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { demoRepository } from "../../src/cli/demo/DemoRepository.ts"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

describe("the main job, with the real server and the real tool", () => {
  it.live(
    "from the setup link over an install, an update and its live apply to the destruction",
    () =>
      Effect.gen(function* () {
        const repository = yield* demoRepository.pipe(Effect.provide(NodeServices.layer))
        const { setupLink } = yield* realServer(repository.origin)
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, step, succeeded, type } = personAt(page, 60_000)

        yield* setUp(page, setupLink)
        yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).click())

        yield* type("Git address", repository.url)
        yield* press("Read the repository")
        yield* type("Name", "greeter")
        yield* step(() => page.locator("input[name=name]").fill("browser"))
        yield* press("Make the plan")
        yield* heading("Plan · greeter")
        yield* reviewing
        yield* step(() => page.getByText("terraform_data.greeting").first().waitFor())
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · greeter")
        yield* succeeded
        yield* step(() => page.locator(".log-line").first().waitFor())
        expect(yield* Effect.promise(() => page.locator(".resource-done code").allTextContents())).toEqual([
          "terraform_data.greeting"
        ])

        yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
        yield* step(() => page.getByText("Hello, browser!").waitFor())

        const capsule = page.url()
        yield* repository.commitSecond
        yield* step(() => page.locator(".facts a").first().click())
        yield* press("Sync now")
        yield* succeeded
        yield* step(() => page.goto(capsule))
        yield* press("Plan the update")
        yield* reviewing
        yield* step(() => page.getByText("terraform_data.farewell").first().waitFor())
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · greeter")
        yield* succeeded
        yield* step(() => page.goto(capsule))
        yield* step(() => page.getByText("Good morning, browser!").waitFor())

        yield* step(() => page.getByRole("button", { name: "More actions" }).click())
        yield* step(() => page.getByRole("menuitem", { name: "Check for drift" }).click())
        yield* heading("Drift check · greeter")
        yield* succeeded

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
        yield* step(() => page.getByText("This capsule was destroyed. Its history stays.").waitFor())
        expect(faults).toEqual([])
      }),
    240_000
  )
})
