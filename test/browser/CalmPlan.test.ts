import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import type { ResourceChange } from "../../src/dashboard/api/Types.ts"
import { planWords } from "../../src/dashboard/screens/run/PlanWords.ts"
import { change } from "./support/records/PlanChanges.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

const policy = (action: string) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Sid: "Read", Effect: "Allow", Action: action, Resource: "arn:a" }]
  })

const settings = (level: number) =>
  JSON.stringify({ log: { level }, cache: { size: level * 10, ttl: 60 }, name: "web", region: "eu" })

const changes: ReadonlyArray<ResourceChange> = [
  ...Array.from({ length: 400 }, (_, index) =>
    change(
      `module.network.aws_instance.web[${index}]`,
      ["update"],
      [
        { name: "instance_type", before: "m7g.large", after: "m7g.xlarge" },
        { name: "arn", unknown: true },
        { name: "public_ip", unknown: true }
      ]
    )
  ),
  change(
    "aws_iam_policy.deploy",
    ["update"],
    [
      { name: "policy", before: policy("s3:GetObject"), after: policy("s3:*") },
      { name: "settings", before: settings(1), after: settings(2) }
    ]
  ),
  change("aws_cloudwatch_log_group.legacy", ["delete"], [{ name: "name", before: "/acme/legacy" }]),
  change(
    "aws_db_instance.fresh",
    ["create"],
    [
      ...Array.from({ length: 20 }, (_, index) => ({ name: `option_${String(index).padStart(2, "0")}`, after: index })),
      { name: "script", after: Array.from({ length: 40 }, (_, index) => `echo ${index}`).join("\n") }
    ].toSorted((one, other) => (one.name === "script" ? -1 : other.name === "script" ? 1 : 0))
  )
]

/** A plan with 403 changes. */
const world = () => {
  const made = newWorld()
  made.runs = made.runs.map((run) =>
    run.id === reviewRun
      ? {
          ...run,
          resourceChanges: [...changes],
          outputChanges: [
            {
              name: "endpoint",
              actions: ["update"],
              sensitive: true,
              publication: { change: "published", reason: "mark_removed" }
            }
          ],
          planSummary: { add: 1, change: 401, destroy: 1, replace: 0, import: 0, forget: 0 }
        }
      : run
  )
  return made
}

const sideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

for (const [language, look] of [
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const) {
  const words = planWords[language]
  describe(`A plan with 403 changes (${language})`, () => {
    test("a long plan groups similar resources into rows, and lists losses and new exposure first", async () => {
      const { page, faults, go } = await suite.visit(look, world())
      await go(`/w/acme/runs/${reviewRun}`, ".change")
      const looks = page.getByTestId("first-looks")
      expect(
        await looks
          .locator("li")
          .allInnerTexts()
          .then((all) => all.map((text) => text.replaceAll(/\s+/g, " ")))
      ).toEqual([
        `aws_cloudwatch_log_group.legacy ${words.kinds.destroy}`,
        `aws_iam_policy.deploy ${words.lookWider("policy", '"s3:*"')}`,
        `endpoint ${words.lookOutput}`
      ])
      const series = page.locator(".change-series")
      expect(await series.count()).toBe(1)
      await series.getByText("aws_instance.web[0...399]").waitFor()
      await series.getByText(words.resources(400)).waitFor()
      expect(await page.locator(".change").count()).toBe(4)
      expect(await barriers(page)).toEqual([])

      await series.locator("summary").first().click()
      const member = series.locator(".change").first()
      await member.locator("summary").click()
      // All unknown values share one line.
      expect(await member.locator("dt").allInnerTexts()).toEqual(["instance_type", "arn, public_ip"])
      expect(await barriers(page)).toEqual([])

      await looks.getByRole("button", { name: "aws_iam_policy.deploy" }).click()
      await page.getByText(words.matchingChanges(1), { exact: true }).waitFor()
      await page.locator(".difference-paths", { hasText: "log › level, cache › size" }).waitFor()
      expect(faults).toEqual([])
    })

    test("a long plan can be filtered by verb and type, and collapses long creations", async () => {
      const { page, go } = await suite.visit(look, world())
      await go(`/w/acme/runs/${reviewRun}`, ".change")
      const chip = (kind: "create" | "destroy") => page.locator(".run-chip", { hasText: words.kinds[kind] })
      await chip("create").click()
      await page.getByText(words.matchingChanges(1), { exact: true }).waitFor()
      const created = page.locator(".change", { hasText: "aws_db_instance.fresh" })
      expect(await created.locator("dt").count()).toBe(8)
      await created.getByText(words.showValue(40)).waitFor()
      expect(await created.locator(".difference").count()).toBe(0)
      await created.getByText(words.showValue(40)).click()
      await created.locator(".difference").waitFor()
      await created.getByRole("button", { name: words.showAttributes(13) }).click()
      expect(await created.locator("dt").count()).toBe(21)
      await chip("create").click()
      await page.locator(".plan-filters select").selectOption("aws_iam_policy")
      await page.getByText(words.matchingChanges(1), { exact: true }).waitFor()
      await page.locator(".change", { hasText: "aws_iam_policy.deploy" }).waitFor()
    })

    for (const width of [1440, 390, 320]) {
      test(`a long plan fits ${width} pixels, collapsed and expanded, without accessibility violations`, async () => {
        const { page, go } = await suite.visit({ ...look, width, height: 900 }, world())
        await go(`/w/acme/runs/${reviewRun}`, ".change")
        expect([await sideways(page), await barriers(page)]).toEqual([0, []])
        await page.getByRole("button", { name: words.expandAll }).click()
        await page.locator(".change-series .change").nth(5).waitFor()
        expect(await sideways(page)).toBe(0)
      })
    }
  })
}
