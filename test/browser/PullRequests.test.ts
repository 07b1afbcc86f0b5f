import { describe, expect, test } from "bun:test"
import type { Run } from "../../src/dashboard/api/Types.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { changeReviewWords } from "../../src/dashboard/screens/run/ChangeReviewWords.ts"
import { pullRequestWords } from "../../src/dashboard/screens/pull-request/Words.ts"
import { pullRequestListWords } from "../../src/dashboard/screens/pull-requests/Words.ts"
import { attentionWords } from "../../src/dashboard/screens/home/AttentionWords.ts"
import { shortCommit } from "../../src/dashboard/words/Format.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { changeItem } from "./support/records/AttentionItems.ts"
import { buttonNamed } from "./support/dialogs/DialogActions.ts"
import { mergedPullRequest, openPullRequest, pullRequests, strangePullRequest } from "./support/records/PullRequests.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { without } from "./support/records/Seeds.ts"
import { newWorld, replaceRun } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

const [first, strange] = pullRequests
const headOf = (pullRequest: typeof first): string => pullRequest?.headCommit ?? ""

for (const [language, look] of [
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const) {
  const list = pullRequestListWords[language]
  const words = pullRequestWords[language]

  describe(`Pull requests (${language})`, () => {
    test("the list shows open pull requests with counts by verdict, and links to the forge", async () => {
      const { page, faults, go } = await suite.visit(look)
      await go("/w/acme/pull-requests", ".row-run")
      const row = page.locator(".row-run", { hasText: "#1 " })
      const text = (await row.textContent()) ?? ""
      for (const part of [`${list.verdicts.planned} 1`, `${list.verdicts.failed} 1`, "keep-exports", list.by("aiko")]) {
        expect(text).toContain(part)
      }
      expect(await row.locator("a[target=_blank]").getAttribute("href")).toBe(first?.url ?? "")
      expect(await page.locator(".row-run", { hasText: "#2 " }).textContent()).toContain(list.elsewhere)
      expect(await page.locator(".row-run").count()).toBe(2)
      await page.getByRole("button", { name: list.states.merged, exact: true }).click()
      await page.locator(".row-run", { hasText: "#3 " }).waitFor()
      expect(new URL(page.url()).searchParams.get("state")).toBe("merged")
      await page.getByRole("button", { name: vocabulary[language].all, exact: true }).click()
      await page.locator(".row-run", { hasText: "#1 " }).waitFor()
      expect(await page.locator(".row-run").count()).toBe(3)
      expect(await barriers(page)).toEqual([])
      await page.keyboard.press("j")
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/pull-requests\/pr_/)
      await page.locator(".row-static").first().waitFor()
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })

    test("an empty list explains which settings enable pull requests", async () => {
      const world = newWorld()
      world.pullRequests = []
      const { page, go } = await suite.visit(look, world)
      await go("/w/acme/pull-requests", ".empty")
      expect(await page.locator(".empty").textContent()).toContain(list.emptyOpen)
      world.sources = world.sources.map((source) => ({ ...source, pullRequests: "off" }))
      await go("/w/acme/pull-requests", ".empty a")
      expect(await page.locator(".empty").textContent()).toContain(list.offText)
      expect(await page.locator(".empty a").getAttribute("href")).toBe("/w/acme/sources")
    })

    test("the page of a pull request shows the verdict, followed by a row for each Capsule with its risks, approvers and Runs", async () => {
      const { page, faults, go } = await suite.visit(look)
      await go(`/w/acme/pull-requests/${openPullRequest}`, ".row-static")
      expect(await page.locator(".split-main .notice").first().textContent()).toContain(words.headlines.failed)
      const row = page.getByTestId("touched-storefront")
      await row.waitFor()
      const text = (await row.textContent()) ?? ""
      for (const part of [
        list.verdicts.planned,
        "aws_db_instance.orders",
        `${words.risks.undoes}: modules/storefront/limits.tf`,
        words.behind(2),
        words.rule(2, words.ofTeam("sre")),
        words.rule(1, words.ofRole.owner)
      ]) {
        expect(text).toContain(part)
      }
      expect(await row.getByRole("link", { name: `${words.speculative}: storefront` }).getAttribute("href")).toBe(
        `/w/acme/runs/${reviewRun}`
      )
      const review = page.getByRole("region", { name: words.module("modules/storefront") })
      const facts = (await review.textContent()) ?? ""
      for (const part of [
        words.runsCode,
        "data.external.price",
        words.more(3),
        "generated.tf.json",
        words.checks.not_run
      ]) {
        expect(facts).toContain(part)
      }
      expect(await page.getByRole("button", { name: words.plan }).count()).toBe(0)
      expect(faults).toEqual([])
    })

    test("an admin allows plans only for the commit that the page shows", async () => {
      const { api, page, go } = await suite.visit(look)
      await go(`/w/acme/pull-requests/${strangePullRequest}`, ".row-static")
      await page.getByRole("button", { name: words.plan }).click()
      const dialog = page.getByRole("dialog")
      const text = (await dialog.textContent()) ?? ""
      expect(text).toContain(words.planTitle(shortCommit(headOf(strange))))
      expect(text).toContain("data.external.price")
      expect(text).toContain(words.more(3))
      expect(await barriers(page)).toEqual([])
      await dialog.getByRole("button", { name: words.plan }).click()
      await dialog.waitFor({ state: "detached" })
      expect(api.changes.at(-1)).toEqual({
        method: "POST",
        path: `/api/v1/pull-requests/${strangePullRequest}/plan`,
        body: { commit: headOf(strange) }
      })
      await page.getByTestId("touched-storefront").getByText(list.verdicts.planning).waitFor()
    })
  })
}

test("svc does not plan a commit that was pushed after the dialog opened", async () => {
  const world = newWorld()
  const { page, go } = await suite.visit(lightEnglish, world)
  await go(`/w/acme/pull-requests/${strangePullRequest}`, ".row-static")
  await page.getByRole("button", { name: pullRequestWords.en.plan }).click()
  world.pullRequests = world.pullRequests.map((each) =>
    each.id === strangePullRequest ? { ...each, headCommit: "f".repeat(40) } : each
  )
  const dialog = page.getByRole("dialog")
  await dialog.getByRole("button", { name: pullRequestWords.en.plan }).click()
  await dialog.getByText("The head has moved.").waitFor()
})

test("members cannot allow plans of an outside contributor's commit", async () => {
  const { page, go } = await suite.visit(lightEnglish)
  await page.route("**/api/v1/dashboard/bootstrap", async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replaceAll('"role":"owner"', '"role":"member"') })
  })
  await go(`/w/acme/pull-requests/${strangePullRequest}`, ".row-static")
  expect(await page.getByRole("button", { name: pullRequestWords.en.plan }).count()).toBe(0)
})

test("a pull request address that is not a web address is not shown as a link to the forge", async () => {
  const world = newWorld()
  world.pullRequests = world.pullRequests.map((each) => ({ ...each, url: "javascript:alert(1)" }))
  const { page, go } = await suite.visit(lightEnglish, world)
  await go(`/w/acme/pull-requests/${openPullRequest}`, ".row-static")
  expect(await page.locator("a[target=_blank]", { hasText: pullRequestWords.en.atForge }).count()).toBe(0)
})

test("a Capsule's page lists the pull requests that affect it, on a phone", async () => {
  const { page, faults, go } = await suite.visit(phone)
  await go(`/w/acme/capsules/${storefrontId}/pull-requests`, ".row-run")
  expect(await page.locator(".row-run").count()).toBe(2)
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
  await page.getByRole("button", { name: pullRequestListWords.en.states.merged, exact: true }).click()
  await page.locator(".row-run", { hasText: "#3 " }).waitFor()
  expect(faults).toEqual([])
})

test("a merged pull request links to the lane's plan and to the apply of that plan", async () => {
  const { page, go } = await suite.visit(darkJapanese)
  await go(`/w/acme/pull-requests/${mergedPullRequest}`, ".row-static")
  const words = pullRequestWords.ja
  const row = page.getByTestId("touched-storefront")
  for (const name of [words.speculative, words.lane, words.apply]) {
    await row.getByRole("link", { name: `${name}: storefront` }).waitFor()
  }
  expect(await page.locator(".split-main .notice").first().textContent()).toContain(words.headlines.applied)
})

test("the page of a plan links to its pull request, even after the merge", async () => {
  const world = newWorld()
  replaceRun(world, reviewRun, { speculative: true, status: "succeeded", pullRequestId: openPullRequest })
  const { page, faults, go } = await suite.visit(lightEnglish, world)
  const address = `/w/acme/pull-requests/${openPullRequest}`
  await go(`/w/acme/runs/${reviewRun}`, "[data-testid=pull-request-link]")
  const link = page.getByTestId("pull-request-link")
  await link.getByText("Keep the exports for a month").waitFor()
  expect(await link.getAttribute("href")).toBe(address)
  const differsFrom: Run["differsFrom"] = {
    runId: reviewRun,
    pullRequestId: openPullRequest,
    pullRequestNumber: 1,
    reasons: [{ code: "change", message: "The plan makes another change." }],
    lines: [
      { side: "approved", text: "input = one" },
      { side: "planned", text: "input = two" }
    ]
  }
  world.runs = world.runs.map((run) =>
    run.id === reviewRun
      ? { ...without(run, "speculative", "pullRequestId"), status: "waiting_approval", differsFrom }
      : run
  )
  await go(`/w/acme/runs/${reviewRun}`, "[data-testid=pull-request-link]")
  await page.getByText(changeReviewWords.en.differs(1)).waitFor()
  await page.getByText("input = two").waitFor()
  expect(await page.getByTestId("pull-request-link").getAttribute("href")).toBe(address)
  expect(await page.getByRole("button", { name: decisionWords.en.approveAndApply }).count()).toBeGreaterThan(0)
  expect(faults).toEqual([])
})

test("Home shows a change that the signed-in person must approve, and links to its pull request", async () => {
  const world = newWorld()
  world.needs = [changeItem]
  const { page, go } = await suite.visit(lightEnglish, world)
  await go("/w/acme", ".attention-row")
  const entry = page.getByTestId("need-waiting_change")
  await entry.getByText(attentionWords.en.kinds.waiting_change).waitFor()
  expect(await barriers(page)).toEqual([])
  await entry.getByRole("link", { name: buttonNamed(attentionWords.en.actions.waiting_change) }).click()
  await page.waitForURL(`**/pull-requests/${openPullRequest}`)
  await page.getByTestId("touched-storefront").waitFor()
})
