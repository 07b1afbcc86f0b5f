import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { paperWords } from "../../src/dashboard/screens/run/PaperWords.ts"
import { planWords } from "../../src/dashboard/screens/run/PlanWords.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

for (const [language, look] of [
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const) {
  const words = paperWords[language]
  describe(`Printed plans (${language})`, () => {
    test("a plan that is printed or saved as a page contains every change, the digest and the approvers", async () => {
      const world = newWorld()
      const plan = world.runs.find(({ id }) => id === reviewRun)
      if (plan === undefined) throw new Error("no plan")
      world.runs = world.runs.map((run) =>
        run.id === reviewRun
          ? {
              ...run,
              approvedBy: "usr_0000000000000002",
              approvedAt: "2026-01-02T03:04:05.000Z",
              approvalComment: "Looks <right>."
            }
          : run
      )
      const { page, faults, go } = await suite.visit(look, world)
      await page.addInitScript(() => {
        globalThis.print = () => Reflect.set(globalThis, "__printed", document.querySelector(".paper")?.textContent)
      })
      await go(`/w/acme/runs/${reviewRun}`, ".change")
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: words.save }).click()
      ])
      expect(download.suggestedFilename()).toBe(`storefront-${reviewRun}.html`)
      const saved = readFileSync((await download.path()) ?? "", "utf8")
      for (const change of plan.resourceChanges ?? []) {
        if (change.actions[0] === "no-op" && change.previousAddress === undefined) continue
        expect(saved).toContain(change.address.replaceAll('"', "&quot;").replaceAll("&quot;", '"'))
      }
      for (const text of [
        plan.planDigest ?? "no digest",
        `/w/acme/runs/${reviewRun}`,
        "Looks &lt;right&gt;.",
        planWords[language].later,
        "s3:PutObject"
      ]) {
        expect(saved).toContain(text)
      }
      // A saved page loads nothing and runs no script.
      expect(saved).not.toMatch(/<script|<link|<img|src=|url\(/)

      await page.getByRole("button", { name: words.print }).click()
      await page.waitForFunction(() => Reflect.has(globalThis, "__printed"))
      const printed = await page.evaluate(() => String(Reflect.get(globalThis, "__printed")))
      expect(printed).toContain(plan.planDigest ?? "no digest")
      expect(printed).toContain("Looks <right>.")
      // Printing does not change the page.
      await page.waitForFunction(() => document.querySelector(".paper") === null)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
  })
}
