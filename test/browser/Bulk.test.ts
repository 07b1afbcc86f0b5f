import { describe, expect, test } from "bun:test"
import type { AttentionItem, Run } from "../../src/dashboard/api/Types.ts"
import { bulkWords } from "../../src/dashboard/app/BulkWords.ts"
import { needs } from "./support/records/AttentionItems.ts"
import { reviewRun, runs } from "./support/records/Runs.ts"
import { ago } from "./support/records/Seeds.ts"
import { newWorld, type World } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const none = { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }

const numbered = [1, 2, 3]
const idOf = (number: number) => `run_00000000000009${number}0`
const digestOf = (number: number) => `sha256:${String(number).repeat(64)}`

/** Builds a world with three plans that only create and one plan that destroys. */
const worldWithPlans = (): World => {
  const world = newWorld()
  const waiting = runs.find(({ id }) => id === reviewRun)
  if (waiting === undefined) throw new Error("There is no plan that waits.")
  const plans = numbered.map(
    (number): Run => ({
      ...waiting,
      id: idOf(number),
      capsuleId: "cap_0000000000000002",
      planDigest: digestOf(number),
      planSummary: { ...none, add: number },
      resourceChanges: [],
      createdAt: ago(number)
    })
  )
  world.runs = [...plans, ...world.runs]
  const [entry] = needs.filter(({ kind }) => kind === "waiting_approval")
  if (entry === undefined) throw new Error("There is no entry.")
  world.needs = [
    ...needs.slice(0, 3),
    ...plans.map(
      ({ id, planDigest = "", planSummary = none }, index): AttentionItem => ({
        ...entry,
        key: id,
        also: [],
        capsules: [{ id: `cap_00000000000009${index}0`, name: `worker-${index + 1}`, environment: "staging" }],
        run: { id, type: "plan", planDigest, planSummary }
      })
    ),
    ...needs.slice(3)
  ]
  return world
}

const visitHome = async (look: Parameters<typeof suite.visit>[0] = lightEnglish) => {
  const visit = await suite.visit(look, worldWithPlans())
  await visit.go("/w/acme", ".need-choice")
  return visit
}

describe("Bulk decisions", () => {
  for (const look of [lightEnglish, darkJapanese, phone]) {
    test(`the home page offers plans that destroy nothing for a bulk decision, and shows their changes (${look.language}, ${look.width ?? "wide"})`, async () => {
      const words = bulkWords[look.language]
      const { page } = await visitHome(look)
      // A plan that destroys has no check box.
      expect(await page.locator(".attention .plan-choice").count()).toBe(3)
      await page.getByLabel(words.choose("worker-1 · staging"), { exact: true }).check()
      await page.getByLabel(words.choose("worker-2 · staging"), { exact: true }).check()
      const bar = page.getByRole("region", { name: words.bar, exact: true })
      expect(await bar.locator("output").textContent()).toBe(`${words.chosen(2)}, ${words.only.create}`)
      expect(await barriers(page)).toEqual([])
      await page.getByLabel(words.chooseAll(3), { exact: true }).check()
      await bar.getByText(words.chosen(3)).waitFor()
      // Closing the dialog without a decision keeps the selection and the focus.
      const discard = bar.getByRole("button", { name: words.discard, exact: true })
      await discard.click()
      await page.locator("dialog[open]").waitFor()
      await page.keyboard.press("Escape")
      await page.locator("dialog[open]").waitFor({ state: "detached" })
      await bar.getByText(words.chosen(3)).waitFor()
      expect(await discard.evaluate((element) => element === document.activeElement)).toBe(true)
      await bar.getByRole("button", { name: words.clear, exact: true }).click()
      expect(await bar.count()).toBe(0)
    })
  }

  test("a bulk decision approves and applies each plan, identified by its own digest, and lists refused plans", async () => {
    const words = bulkWords.en
    const { api, page } = await visitHome()
    await page.getByLabel(words.chooseAll(3), { exact: true }).check()
    await page.getByRole("button", { name: words.approve, exact: true }).click()
    // The second plan changes after the person has seen it.
    api.world.runs = api.world.runs.map((run) => (run.id === idOf(2) ? { ...run, planDigest: digestOf(9) } : run))
    await page.getByRole("dialog").getByLabel(words.comment).fill("Together.")
    await page.getByRole("button", { name: words.approveAndApply(3), exact: true }).click()
    await page.getByRole("dialog", { name: words.resultTitle(1, 3) }).waitFor()
    expect(await barriers(page)).toEqual([])
    const listed = await page.locator(".bulk-list > li").allTextContents()
    expect(listed[0]).toContain(words.results.applied)
    expect(listed[1]).toContain("The plan digest is not this Run's.")
    expect(listed[2]).toContain(words.results.applied)
    const sent = api.changes.map(({ body, path }) => [path.split("/").slice(-2).join(" "), body])
    expect(sent).toEqual([
      [`${idOf(1)} approve`, { planDigest: digestOf(1), comment: "Together." }],
      [`${idOf(1)} apply`, {}],
      [`${idOf(2)} approve`, { planDigest: digestOf(2), comment: "Together." }],
      [`${idOf(3)} approve`, { planDigest: digestOf(3), comment: "Together." }],
      [`${idOf(3)} apply`, {}]
    ])
  })

  test("a selected plan is removed from a bulk decision if the plan changes while the page is open", async () => {
    const words = bulkWords.en
    const { api, page, go } = await suite.visit(lightEnglish, worldWithPlans())
    await page.clock.install()
    await go("/w/acme", ".need-choice")
    await page.getByLabel(words.chooseAll(3), { exact: true }).check()
    const bar = page.getByRole("region", { name: words.bar, exact: true })
    await bar.getByText(words.chosen(3)).waitFor()
    api.world.needs = api.world.needs.map((need) =>
      need.run?.id === idOf(1) ? { ...need, run: { ...need.run, planDigest: digestOf(8) } } : need
    )
    await page.clock.runFor(16_000)
    await bar.getByText(words.chosen(2)).waitFor()
    expect(await page.getByLabel(words.choose("worker-1 · staging"), { exact: true }).isChecked()).toBe(false)
  })

  test("plans in the list of Runs can be discarded in bulk with a reason, using only the keyboard", async () => {
    const words = bulkWords.en
    const { api, page, go } = await suite.visit(lightEnglish, worldWithPlans())
    await go("/w/acme/runs", ".rows-choosable")
    // The apply of another plan is already running, so that plan has no check box.
    expect(await page.locator(".rows .plan-choice").count()).toBe(3)
    expect(await barriers(page)).toEqual([])
    await page.locator(".plan-choice-all input").focus()
    await page.keyboard.press("Space")
    await page.getByRole("button", { name: words.discard, exact: true }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByLabel(words.reason).fill("Not today.")
    await page.getByRole("button", { name: words.discardDo(3), exact: true }).click()
    await page.getByText(words.done(3)).waitFor()
    expect(api.changes.map(({ body }) => body)).toEqual(
      numbered.map((number) => ({ planDigest: digestOf(number), reason: "Not today." }))
    )
    await page.getByRole("dialog").waitFor({ state: "detached" })
    // The button that opened the dialog is gone, so the focus moves to the page's content.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content")
  })
})
