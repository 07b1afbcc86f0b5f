import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { connectionWords } from "../../src/dashboard/screens/connections/Words.ts"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { pullRequestWords } from "../../src/dashboard/screens/pull-request/Words.ts"
import { pullRequestListWords } from "../../src/dashboard/screens/pull-requests/Words.ts"
import { changeReviewWords } from "../../src/dashboard/screens/run/ChangeReviewWords.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { sourceWords } from "../../src/dashboard/screens/sources/Words.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import type { HttpSession } from "../e2e/support/HttpSession.ts"
import { moduleOf, patiently, pullRequestTeam } from "../e2e/support/PullRequestTeam.ts"
import { it } from "../support/Effect.ts"
import { forgeToken } from "../support/forge/ForgeRepository.ts"
import { type Look, startBrowser } from "./support/Browser.ts"
import { darkJapanese, lightEnglish } from "./support/Suite.ts"

const patience = 120_000

const step = <A>(act: () => Promise<A>) => Effect.promise(act)

/**
 * Creates the forge Connection in the Connection form. Then selects the Connection in the Source form, and turns on plans
 * for the repository's own branches.
 */
const connectForge = (page: Page, at: string, sourceId: string, forgeOrigin: string) =>
  step(async () => {
    const dialog = page.getByRole("dialog")
    const { en: words } = connectionWords
    await page.goto(`${at}/connections`)
    await page.getByRole("button", { name: words.create }).first().click()
    await dialog.getByLabel(words.recipe).selectOption("forge-forgejo")
    await dialog.getByLabel(words.displayName, { exact: true }).fill("Comments")
    await dialog.getByLabel("Token").fill(forgeToken)
    await dialog.getByLabel(words.origins).fill(forgeOrigin)
    await dialog.getByRole("button", { name: vocabulary.en.save }).click()
    await dialog.waitFor({ state: "detached" })
    await page.locator(".row-connection", { hasText: "Comments" }).waitFor()

    await page.goto(`${at}/sources/${sourceId}`)
    await page.getByRole("button", { name: sourceWords.en.edit, exact: true }).click()
    // svc does not follow pull requests of a Source without automatic sync, which is off after an install.
    await dialog.getByLabel(sourceWords.en.autoSync, { exact: true }).check()
    await dialog.getByLabel(sourceWords.en.pullRequests, { exact: true }).selectOption("own_branches")
    await dialog.getByLabel(sourceWords.en.forge, { exact: true }).selectOption({ index: 1 })
    await dialog.getByRole("button", { name: vocabulary.en.save }).click()
    await dialog.waitFor({ state: "detached" })
  })

/** Presses Test on the Connections page, and waits for the result. */
const testForge = (page: Page, at: string, text: string | RegExp) =>
  step(async () => {
    await page.goto(`${at}/connections`)
    const row = page.locator(".row-connection", { hasText: "Comments" })
    await row.getByRole("button", { name: new RegExp(`^${connectionWords.en.test}`) }).click()
    await page.getByText(text).first().waitFor({ timeout: patience })
  })

describe("Pull requests by two people on a real server", () => {
  it.live(
    "approving a change also approves the plan after its squash merge, and a plan that differs shows the differing lines",
    () =>
      Effect.gen(function* () {
        const team = yield* pullRequestTeam
        const { forge, judged, origin } = team
        const at = `${origin}/w/${team.handle}`
        const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
          Effect.promise(() => started.close())
        )
        const pageOf = (look: Look, { cookies }: HttpSession) =>
          step(async () => {
            const opened = await browser.open(look)
            await opened.page.context().addCookies(cookies())
            return opened
          })
        const [owner, approver] = [yield* pageOf(lightEnglish, team.mina), yield* pageOf(darkJapanese, team.ken)]
        const [mina, ken] = [owner.page, approver.page]
        const [words, list] = [pullRequestWords.en, pullRequestListWords.en]

        yield* connectForge(mina, at, team.sourceId, forge.origin)
        forge.grant("read")
        yield* testForge(mina, at, /write access to team\/infra/)
        forge.grant("write")
        yield* testForge(mina, at, connectionWords.en.testedAs.forge)

        yield* forge.open(1, "Greet in two", { "main.tf": moduleOf("two") })
        yield* team.deliver
        yield* judged(1, "planned")
        const comment = yield* patiently(
          Effect.sync(() => forge.comment(1)),
          (text) => text.includes("/runs/")
        )
        const link = /<(http[^>\s]*\/runs\/run_\w+)>/.exec(comment)?.[1] ?? ""
        expect(link).toStartWith(`${at}/runs/`)
        expect(comment).toContain(`[Open in svc](<${at}/pull-requests/pr_`)

        // Ken finds the change on Home, and approves it on the page that the comment links to.
        const { ja: review } = changeReviewWords
        yield* step(async () => {
          await ken.goto(at)
          await ken.getByTestId("need-waiting_change").getByText("Greet in two").click()
          await ken.getByTestId("touched-greeter").getByText(pullRequestListWords.ja.verdicts.planned).waitFor()
          await ken.goto(link)
          await ken.getByTestId("pull-request-link").getByText("Greet in two").waitFor()
          await ken.getByRole("button", { name: review.approve, exact: true }).click()
          await ken.getByRole("dialog").getByRole("button", { name: review.approve, exact: true }).click()
          await ken.getByRole("dialog").waitFor({ state: "detached" })
          await ken.getByText(review.approvedBy("Ken")).waitFor()
        })
        yield* judged(1, "approved")
        yield* step(async () => {
          await ken.goto(at)
          await ken.locator(".health").waitFor()
          expect(await ken.getByTestId("need-waiting_change").count()).toBe(0)
        })
        yield* patiently(
          Effect.sync(() => forge.comment(1)),
          (text) => text.includes("approved")
        )

        yield* team.merged(1, "squash")
        yield* step(async () => {
          await mina.goto(`${at}/capsules/${team.capsuleId}`)
          await mina.locator("#plan").click()
          await mina.waitForURL("**/runs/*", { timeout: patience })
          await mina.getByText(changeReviewWords.en.carried(1)).waitFor({ timeout: patience })
          const plan = mina.url()
          await mina.getByTestId("decision").getByRole("button", { name: decisionWords.en.applyNow }).click()
          await mina.getByRole("dialog").getByRole("button", { name: decisionWords.en.applyNow }).click()
          await mina.waitForURL((url) => url.href !== plan, { timeout: patience })
          await mina.locator(".page-name .status-good").waitFor({ timeout: patience })
          await mina.goto(plan)
          await mina.getByTestId("pull-request-link").click()
          await mina
            .locator(".split-main .notice strong", { hasText: words.headlines.applied })
            .waitFor({ timeout: patience })
          await mina.getByRole("link", { name: `${words.lane}: greeter` }).waitFor()
        })
        const applied = yield* patiently(
          Effect.sync(() => forge.status(1)),
          (status) => status?.description.includes("applied") === true
        )
        expect(applied?.state).toBe("success")

        // The base changes the same module before the merge, so the plan after the merge differs from the change that Ken
        // approved.
        yield* forge.open(2, "Greet in three", { "main.tf": moduleOf("three") })
        yield* team.deliver
        yield* team.approveChange(2)
        yield* forge.commitToMain({ "more.tf": 'resource "terraform_data" "more" {}\n' }, "Add more")
        yield* team.merged(2, "merge")
        const differing = yield* team.planLane
        expect([differing.carriedFrom, differing.differsFrom?.pullRequestNumber]).toEqual([undefined, 2])
        const lines = differing.differsFrom?.lines ?? []
        expect(lines.every(({ side }) => side === "planned")).toBe(true)
        expect(lines.some(({ text }) => text.includes("terraform_data.more"))).toBe(true)
        yield* step(async () => {
          await mina.goto(`${at}/runs/${differing.id}`)
          await mina.getByText(changeReviewWords.en.differs(2)).waitFor()
          for (const { text } of lines) await mina.locator(".addresses code", { hasText: text }).first().waitFor()
          await mina.getByTestId("pull-request-link").click()
          await mina.locator(".split-main .notice strong", { hasText: words.headlines.differs }).waitFor()
          await mina.getByTestId("touched-greeter").getByText(list.verdicts.differs, { exact: true }).waitFor()
          await mina.goto(`${at}/capsules/${team.capsuleId}/pull-requests`)
          await mina.getByRole("button", { name: list.states.merged, exact: true }).click()
          await mina
            .locator(".row-run", { hasText: "Greet in three" })
            .getByText(`${list.verdicts.differs} 1`)
            .waitFor()
          await mina.locator("nav .tab-current", { hasText: capsuleWords.en.tabs["pull-requests"] }).waitFor()
        })
        expect(
          [owner.faults, approver.faults].map((faults) => faults.filter((text) => !text.includes("status of 4")))
        ).toEqual([[], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    900_000
  )
})
