import { describe, expect, test } from "bun:test"
import { changeReviewWords } from "../../src/dashboard/screens/run/ChangeReviewWords.ts"
import { changeDigest } from "./support/records/ChangeApprovals.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { digest } from "./support/records/Seeds.ts"
import { replaceRun } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const path = `/w/acme/runs/${reviewRun}`

describe("Change approvals", () => {
  for (const look of [lightEnglish, darkJapanese, phone]) {
    const words = changeReviewWords[look.language]
    test(`a speculative plan shows the approvals of its change, and a person can approve the change by keyboard (${look.language}, ${look.width ?? "wide"})`, async () => {
      const { api, page, go } = await suite.visit(look)
      const { approvals } = api.world
      api.world.approvals = (run) => ({ ...approvals(run), own: { status: "counts" } })
      replaceRun(api.world, reviewRun, { status: "succeeded", speculative: true, changeDigest })
      await go(path, ".split-main .panel")
      await page.getByRole("heading", { name: words.change }).waitFor()
      await page.getByText(words.approvedBy("Aiko Tanaka")).waitFor()
      expect(await barriers(page)).toEqual([])
      await page.getByRole("button", { name: words.approve, exact: true }).focus()
      await page.keyboard.press("Enter")
      await page.getByRole("dialog").waitFor()
      expect(await barriers(page)).toEqual([])
      await page.getByRole("dialog").getByRole("button", { name: words.approve, exact: true }).focus()
      await page.keyboard.press("Enter")
      await page.getByRole("dialog").waitFor({ state: "detached" })
      const sent = api.world.changeApprovals.at(-1)
      expect([sent?.planDigest, sent?.changeDigest]).toEqual([digest(11), changeDigest])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
    })

    test(`a plan of the lane shows how it differs from the approved change (${look.language}, ${look.width ?? "wide"})`, async () => {
      const { api, page, go } = await suite.visit(look)
      replaceRun(api.world, reviewRun, {
        differsFrom: {
          runId: "run_0000000000000010",
          pullRequestNumber: 12,
          reasons: [
            { code: "change", message: "The plan makes another change than the one that was approved." },
            { code: "files", message: "Files of the module differ. main.tf changed." }
          ],
          lines: [
            { side: "approved", text: 'aws_instance.web size: "small" → "large"' },
            { side: "planned", text: 'aws_instance.web size: "small" → "huge"' }
          ],
          moreLines: 3
        }
      })
      await go(path, ".decision")
      await page.getByText(words.differs(12), { exact: true }).waitFor()
      for (const text of [words.reasons.change, words.reasons.files, words.moreLines(3)]) {
        expect(await page.getByText(text).count()).toBeGreaterThan(0)
      }
      expect(await page.getByText('aws_instance.web size: "small" → "huge"').count()).toBe(1)
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
      expect(await barriers(page)).toEqual([])
    })
  }
})
