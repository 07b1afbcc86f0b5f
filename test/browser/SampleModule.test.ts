import { NodeServices } from "@effect/platform-node"
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { sampleWords } from "../../src/dashboard/screens/install/TrySample.tsx"
import { installWords } from "../../src/dashboard/screens/install/Words.ts"
import { it } from "../support/Effect.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { startBrowser } from "./support/Browser.ts"
import { countClicks } from "./support/Clicks.ts"
import { personAt, setUp, signInByPassword, signOut } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const run = promisify(execFile)

describe("The sample module", () => {
  for (const look of [lightEnglish, darkJapanese, phone])
    test(`the sample module is offered where a newcomer starts, in ${look.language} at ${look.width ?? 1360} px`, async () => {
      const { language } = look
      const world = newWorld()
      world.empty = true
      world.capsules = []
      const { page, api, faults, go } = await suite.visit(look, world)
      await go("/new", "input[type=url]")
      await page.getByRole("button", { name: sampleWords[language].try }).waitFor()
      await page.getByLabel(installWords[language].url).fill("https://git.acme.example/a.git")
      await page.getByRole("button", { name: sampleWords[language].try }).waitFor({ state: "detached" })
      await go("/w/acme", ".empty")
      await page.getByText(sampleWords[language].tryText).waitFor()
      expect(await barriers(page)).toEqual([])
      await page.getByRole("button", { name: sampleWords[language].try }).click()
      await page.waitForURL(/\/runs\/run_/)
      expect(api.changes.find(({ path }) => path.endsWith("/install-plans"))?.body).toMatchObject({
        source: { url: `${api.origin}/samples/hello.git` },
        capsule: { name: "hello", environment: "production" }
      })
      expect(faults).toEqual([])
    })

  it.live(
    "the sample module is applied within four clicks of sign-in, is destroyed like any other module, and can be cloned",
    () =>
      Effect.gen(function* () {
        const server = yield* realServer("https://git.example.com", ["--runner-isolation=off"])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, see, step, succeeded, type } = personAt(page, 60_000)
        yield* setUp(page, server.setupLink)
        yield* signOut(page)
        const clicks = yield* Effect.promise(() => countClicks(page))
        yield* step(() => page.reload())
        yield* signInByPassword(page)
        yield* press(sampleWords.en.try)
        yield* reviewing
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · hello")
        yield* succeeded
        expect(clicks()).toBeLessThanOrEqual(4)
        yield* step(() => page.locator(".trail").getByRole("link", { name: "hello" }).click())
        yield* see("Good morning, world!")

        yield* step(() => page.goto(`${page.url()}/danger`))
        yield* press("Plan the destruction")
        yield* pressInDialog("Plan the destruction")
        yield* heading("Destroy plan · hello")
        yield* press("Approve and destroy")
        yield* type("Type hello to confirm", "hello")
        yield* pressInDialog("Approve and destroy")
        yield* heading("Destroy · hello")
        yield* succeeded

        const folder = yield* temporaryFolder
        const { stdout } = yield* Effect.promise(() =>
          run("git", ["ls-remote", `${server.network.origin}/samples/hello.git`], { cwd: folder })
        )
        expect(stdout).toContain("refs/tags/v1.0.0")
        const push = yield* Effect.promise(() =>
          fetch(`${server.network.origin}/samples/hello.git/info/refs?service=git-receive-pack`).then(({ headers }) =>
            headers.get("content-type")
          )
        )
        expect(push).not.toContain("receive-pack")
        expect(faults).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
