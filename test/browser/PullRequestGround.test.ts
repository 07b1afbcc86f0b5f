import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { changeReviewWords } from "../../src/dashboard/screens/run/ChangeReviewWords.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { runWords } from "../../src/dashboard/screens/run/Words.ts"
import { shortDigest } from "../../src/dashboard/words/Format.ts"
import type { HttpSession } from "../e2e/support/HttpSession.ts"
import { ended, moduleOf, pullRequestTeamWith } from "../e2e/support/PullRequestTeam.ts"
import { it } from "../support/Effect.ts"
import { forgeToken } from "../support/forge/ForgeRepository.ts"
import { providerMirror } from "../support/ProviderMirror.ts"
import { type Look, startBrowser } from "./support/Browser.ts"
import { darkJapanese, lightEnglish } from "./support/Suite.ts"

const patience = 120_000
const provider = "example.test/acme/demo"
const secrets = ["the-first-private-input", "the-second-private-input", "the-first-token", "the-second-token"] as const
const [firstSecret, secondSecret, firstToken, secondToken] = secrets

const step = <A>(act: () => Promise<A>) => Effect.promise(act)

type ReasonCode = keyof typeof changeReviewWords.en.reasons

/** Returns the change digest that the facts of a Run's page show. */
const shownDigest = async (page: Page): Promise<string> => {
  const fact = page.locator("aside .facts > div", { has: page.getByText(runWords.en.changeDigest, { exact: true }) })
  const digest = (await fact.locator(".copy-text").getAttribute("title")) ?? ""
  expect(digest).toMatch(/^hmac-sha256:[\w-]{43}$/)
  expect(await fact.locator("code").textContent()).toBe(shortDigest(digest))
  return digest
}

describe("An approved change, by two people on a real server", () => {
  it.live(
    "an approval is carried over exactly if nothing differs after the merge, and otherwise the page shows what differs",
    () =>
      Effect.gen(function* () {
        const mirror = yield* providerMirror
        const values = (token: string) => ({ DEMO_TOKEN: token, DEMO_DIR: mirror.notesDir })
        const more = `terraform {
  required_providers {
    demo = { source = "${provider}", version = "1.0.0" }
  }
}
variable "secret" {
  type      = string
  sensitive = true
}
resource "demo_note" "kept" {
  name    = "kept"
  content = "kept"
}
`
        const team = yield* pullRequestTeamWith({
          flags: [`--provider-mirror=${mirror.path}`],
          more,
          variables: { secret: firstSecret },
          provider: { source: provider, values: values(firstToken) }
        })
        const { forge, judged } = team
        const at = `${team.origin}/w/${team.handle}`
        const files = (greeting: string, added = "") => ({ "main.tf": moduleOf(greeting, more + added) })
        const { connection } = yield* team.mina.send("POST", "/api/v1/connections", {
          workspaceId: team.within.split("/").at(-1),
          provider: "forgejo",
          kind: "forge",
          displayName: "Comments",
          values: { token: forgeToken },
          origins: [forge.origin]
        })
        yield* team.mina.send("PATCH", `/api/v1/sources/${team.sourceId}`, {
          autoSync: true,
          pullRequests: "own_branches",
          forgeConnectionId: connection.id
        })
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
        const [en, ja] = [changeReviewWords.en, changeReviewWords.ja]

        /** Opens a pull request, whose change Ken approves on the page of its plan. Returns the digest that Mina sees there. */
        const approved = Effect.fnUntraced(function* (number: number, changed: Readonly<Record<string, string>>) {
          yield* forge.open(number, `Change ${number}`, changed)
          yield* team.deliver
          const runId = (yield* judged(number, "planned"))?.capsules?.[0]?.run?.id ?? ""
          yield* step(async () => {
            await ken.goto(`${at}/runs/${runId}`)
            await ken.getByRole("button", { name: ja.approve, exact: true }).click()
            await ken.getByRole("dialog").getByRole("button", { name: ja.approve, exact: true }).click()
            await ken.getByRole("dialog").waitFor({ state: "detached" })
            await ken.getByText(ja.approvedBy("Ken")).waitFor()
          })
          yield* judged(number, "approved")
          return yield* step(async () => {
            await mina.goto(`${at}/runs/${runId}`)
            await mina.getByText(en.approvedBy("Ken")).waitFor()
            return shownDigest(mina)
          })
        })

        /** Plans the Capsule as Mina, and waits on the plan's page. */
        const planned = Effect.gen(function* () {
          yield* step(async () => {
            await mina.goto(`${at}/capsules/${team.capsuleId}`)
            await mina.locator("#plan").click()
            await mina.waitForURL("**/runs/*", { timeout: patience })
          })
          const runId = mina.url().split("/").at(-1) ?? ""
          yield* ended(team.mina, runId)
          return runId
        })

        /** Plans the merged change, whose approval must count for the plan, and applies it. */
        const carries = Effect.fnUntraced(function* (number: number, digest: string) {
          yield* planned
          yield* step(async () => {
            await mina.getByText(en.carried(number), { exact: true }).waitFor({ timeout: patience })
            expect(await mina.getByText(en.differs(number)).count()).toBe(0)
            expect([number, await shownDigest(mina)]).toEqual([number, digest])
            const plan = mina.url()
            await mina.getByTestId("decision").getByRole("button", { name: decisionWords.en.applyNow }).click()
            await mina.getByRole("dialog").getByRole("button", { name: decisionWords.en.applyNow }).click()
            await mina.waitForURL((url) => url.href !== plan, { timeout: patience })
            await mina.locator(".page-name .status-good").waitFor({ timeout: patience })
          })
          yield* judged(number, "applied")
        })

        /** Plans the merged change, whose approval must not count. Returns the shown digest and the lines that differ. */
        const differs = Effect.fnUntraced(function* (
          number: number,
          codes: ReadonlyArray<ReasonCode>,
          isKenHere = true
        ) {
          const runId = yield* planned
          const seen = yield* step(async () => {
            const notice = mina.locator(".notice", { hasText: en.differs(number) })
            await notice.waitFor({ timeout: patience })
            expect(await mina.getByText(en.carried(number)).count()).toBe(0)
            await mina.getByTestId("decision").getByRole("button", { name: decisionWords.en.applyNow }).waitFor({
              state: "detached"
            })
            const reasons = await notice.locator("ul:not(.addresses) li").allTextContents()
            expect([number, reasons.toSorted()]).toEqual([number, codes.map((code) => en.reasons[code]).toSorted()])
            const whole = (await mina.locator("body").textContent()) ?? ""
            expect(secrets.filter((secret) => whole.includes(secret))).toEqual([])
            const lines = await notice.locator(".addresses li").allTextContents()
            expect(await notice.getByText(en.lines, { exact: true }).count()).toBe(lines.length === 0 ? 0 : 1)
            return { digest: await shownDigest(mina), lines }
          })
          if (isKenHere) {
            yield* step(async () => {
              await ken.goto(`${at}/runs/${runId}`)
              const notice = ken.locator(".notice", { hasText: ja.differs(number) })
              await notice.waitFor()
              for (const code of codes) await notice.getByText(ja.reasons[code], { exact: true }).waitFor()
            })
          }
          yield* judged(number, "differs")
          return seen
        })

        // A plain merge commit.
        const merged = yield* approved(1, files("one merge"))
        yield* team.merged(1, "merge")
        yield* carries(1, merged)

        // The author replaces the approved commits, and merges before anybody has approved the new ones.
        const replaced = yield* approved(2, files("as approved"))
        yield* forge.forcePush(2, files("as pushed by force"))
        yield* team.deliver
        yield* judged(2, "planned")
        yield* step(async () => {
          await ken.goto(at)
          await ken.getByTestId("need-waiting_change").getByText("Change 2").waitFor()
        })
        yield* team.merged(2, "squash")
        const forced = yield* differs(2, ["change", "files"])
        expect(forced.digest).not.toBe(replaced)
        expect(forced.lines).toEqual([
          `− ${en.sides.approved}: terraform_data.greeting input: "one merge" → "as approved"`,
          `+ ${en.sides.planned}: terraform_data.greeting input: "one merge" → "as pushed by force"`
        ])

        // A rebase creates other commits, because the base has a new commit outside the module.
        const rebased = yield* approved(3, files("one rebase"))
        yield* forge.commitToMain({ "docs/about.md": "About" }, "Write about it")
        yield* team.merged(3, "rebase")
        yield* carries(3, rebased)

        // The change is equal in the following cases, so there are no lines that differ, and the page names the reason.
        const underRule = yield* approved(4, files("another rule"))
        yield* team.mina.send("PATCH", `${team.within}/approval-rules/${team.approvalRule.id}`, {
          automationCounts: true
        })
        yield* team.merged(4, "merge")
        expect(yield* differs(4, ["rule"])).toEqual({ digest: underRule, lines: [] })

        const withToken = yield* approved(5, files("another token"))
        yield* team.mina.send("PATCH", `/api/v1/connections/${team.connectionId}`, { values: values(secondToken) })
        yield* team.merged(5, "squash")
        expect(yield* differs(5, ["connection"])).toEqual({ digest: withToken, lines: [] })

        // The merged change stores the private input. Nobody may see its value, so the digests differ and no line does.
        const withSecret = yield* approved(
          6,
          files("another input", 'resource "terraform_data" "private" {\n  input = var.secret\n}\n')
        )
        yield* team.configured({ secret: secondSecret })
        yield* team.merged(6, "merge")
        const hidden = yield* differs(6, ["authority", "change", "configuration", "state"])
        expect(hidden.digest).not.toBe(withSecret)
        expect(hidden.lines).toEqual([])

        const byKen = yield* approved(7, files("without its approver"))
        yield* team.removeKen
        yield* team.merged(7, "merge")
        expect(yield* differs(7, ["approver"], false)).toEqual({ digest: byKen, lines: [] })

        expect(
          [owner.faults, approver.faults].map((faults) => faults.filter((text) => !text.includes("status of 4")))
        ).toEqual([[], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    900_000
  )
})
