import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { demoRepository } from "../support/DemoRepository.ts"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { lightEnglish } from "./support/Suite.ts"

describe("Sandboxed installs", () => {
  it.live(
    "an install in the server's default sandbox is applied, and its output is shown",
    () =>
      Effect.gen(function* () {
        const repository = yield* demoRepository.pipe(Effect.provide(NodeServices.layer))
        const { network, setupLink } = yield* realServer(repository.origin)
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, see, step, succeeded, type } = personAt(page, 60_000)
        yield* setUp(page, setupLink)
        yield* step(() => page.goto(`${network.origin}/new?git=${encodeURIComponent(repository.url)}`))
        yield* press("Read the repository")
        yield* type("Name", "greeter")
        yield* step(() => page.locator("input[name=name]").fill("sandbox"))
        yield* press("Make the plan")
        yield* heading("Plan · greeter")
        yield* reviewing
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · greeter")
        yield* succeeded
        yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
        yield* see("Hello, sandbox!")
        expect(faults).toEqual([])
      }),
    240_000
  )
})
