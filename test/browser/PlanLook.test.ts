import { NodeServices } from "@effect/platform-node"
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { revisionWords } from "../../src/dashboard/screens/capsule/PlanRevision.tsx"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { lookWords } from "../../src/dashboard/screens/run/LookNotice.tsx"
import { commitWords } from "../../src/dashboard/ui/CommitWords.ts"
import { it } from "../support/Effect.ts"
import { startBrowser } from "./support/Browser.ts"
import { countClicks } from "./support/Clicks.ts"
import { notesRepository } from "./support/NotesRepository.ts"
import { personAt, setUp } from "./support/Person.ts"
import { realServer } from "./support/RealServer.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

const capsulePage = `/w/acme/capsules/${storefrontId}`

const openPicker = async (page: Page, language: "en" | "ja") => {
  await page.getByRole("button", { name: capsuleWords[language].moreActions }).click()
  await page.getByRole("menuitem", { name: capsuleWords[language].planRef, exact: true }).click()
  await page.getByRole("dialog").getByRole("group", { name: revisionWords[language].branches }).waitFor()
}

describe("Manual plans", () => {
  for (const look of [lightEnglish, darkJapanese, phone])
    test(`a manual plan first reads the ref and shows how many commits the ref is ahead, at ${look.width ?? 1360} px, in ${look.language}`, async () => {
      const { page, api, faults, go } = await suite.visit(look)
      await go(capsulePage, ".split")
      await page.getByRole("button", { name: capsuleWords[look.language].plan, exact: true }).click()
      await page.waitForURL(/\/runs\/run_/)
      const notice = page.getByTestId("look")
      const { language } = look
      await notice.getByText(lookWords[language].ahead("main", 2)).waitFor()
      await notice.getByText("c42cbda").waitFor()
      await notice.getByText("Logs only").waitFor()
      await notice.getByText(commitWords[language].by("Mina Sato")).waitFor()
      await notice.getByText(language === "en" ? "1 min ago" : "1 分前").waitFor()
      expect(api.changes.map(({ path }) => path.replace(/.*\//, ""))).toEqual(["look", "plan"])
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })

  test("if the repository cannot be read, a manual plan uses the newest synced commit and shows a warning", async () => {
    const { page, go } = await suite.visit()
    await page.route("**/look", (route) =>
      route.fulfill({
        status: 409,
        json: { error: { code: "failed_precondition", message: "The host is gone.", requestId: "1" } }
      })
    )
    await go(capsulePage, ".split")
    await page.getByRole("button", { name: "Plan", exact: true }).click()
    await page.waitForURL(/\/runs\/run_/)
    const notice = page.locator(".notice-warn", { hasText: lookWords.en.unreadTitle })
    await notice.getByText("The host is gone.").waitFor()
  })

  for (const look of [lightEnglish, darkJapanese, phone])
    test(`a manual plan offers branches, tags and recent commits, at ${look.width ?? 1360} px, in ${look.language}`, async () => {
      const { language } = look
      const { page, api, faults, go } = await suite.visit(look)
      await go(capsulePage, ".split")
      await openPicker(page, language)
      const dialog = page.getByRole("dialog")
      await dialog.getByRole("group", { name: revisionWords[language].tags }).getByText("v1.2.0").waitFor()
      await dialog.getByText("Release it").waitFor()
      expect(await barriers(page)).toEqual([])
      await dialog.getByLabel(capsuleWords[language].ref, { exact: true }).fill("ren")
      await dialog.getByRole("radio", { name: /feature/ }).waitFor({ state: "detached" })
      await dialog.getByRole("radio", { name: /Release it/ }).check()
      await dialog.getByRole("button", { name: capsuleWords[language].plan, exact: true }).click()
      await page.waitForURL(/\/runs\/run_/)
      expect(api.changes.at(-1)).toMatchObject({
        path: `/api/v1/capsules/${storefrontId}/revision-plans`,
        body: { ref: "a".repeat(40) }
      })
      expect(faults).toEqual([])
    })
})

const module = (text: string) => `resource "terraform_data" "greeting" {
  input = "${text}"
}
`

describe("Second commits", () => {
  it.live(
    "a person can apply the second commit of a capsule, just after it is pushed, within four clicks",
    () =>
      Effect.gen(function* () {
        const repository = yield* notesRepository(module("Hello"))
        const server = yield* realServer(repository.origin, ["--runner-isolation=off"])
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const { page, faults } = yield* Effect.promise(() => browser.open(lightEnglish))
        const { heading, press, pressInDialog, reviewing, step, succeeded, type } = personAt(page, 60_000)
        yield* setUp(page, server.setupLink)
        yield* step(() => page.locator(".empty").getByRole("link", { name: "Install" }).click())
        yield* type("Git address", repository.url)
        yield* press("Read the repository")
        yield* type("Name", "greeter")
        yield* press("Make the plan")
        yield* reviewing
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · greeter")
        yield* succeeded
        yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
        yield* step(() => page.getByRole("button", { name: "Plan", exact: true }).waitFor())

        const clicks = yield* Effect.promise(() => countClicks(page))
        yield* repository.commit(module("Good morning"), "Greet better")
        yield* repository.commit(module("Good evening"), "Greet in the evening")
        yield* step(() => page.reload())
        yield* press("Plan")
        yield* reviewing
        const notice = page.getByTestId("look")
        yield* step(() => notice.getByText(lookWords.en.ahead(lookWords.en.defaultBranch, 2)).waitFor())
        yield* step(() => notice.getByText("Greet in the evening").waitFor())
        yield* press("Approve and apply")
        yield* pressInDialog("Approve and apply")
        yield* heading("Apply · greeter")
        yield* succeeded
        expect(clicks()).toBeLessThanOrEqual(4)

        yield* step(() => page.locator(".trail").getByRole("link", { name: "greeter" }).click())
        yield* step(() => openPicker(page, "en"))
        const dialog = page.getByRole("dialog")
        yield* step(() => dialog.getByRole("radio", { name: /^main/ }).waitFor())
        yield* step(() => dialog.getByRole("radio", { name: /Greet better/ }).check())
        yield* pressInDialog("Plan")
        yield* reviewing
        yield* step(() => page.getByText("Greet better").first().waitFor())
        expect(faults).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
