import { expect, test } from "bun:test"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { uncertainWords } from "../../src/dashboard/screens/run/UncertainWords.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { unruled } from "./support/records/Approvals.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld, replaceRun } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

test.each([
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const)(
  "a plan over uncertain state is approved only after the capsule's name is typed, in %s",
  async (to, look) => {
    const world = newWorld()
    // The plan only creates resources, so only the uncertain state can be the reason why the name must be typed.
    replaceRun(world, reviewRun, {
      resourceChanges: [],
      planSummary: { add: 8, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }
    })
    const uncertain = [
      { code: "left_over_state" as const, message: "An earlier apply left a state behind.", acknowledged: false },
      { code: "possibly_created" as const, message: "An apply did not finish.", acknowledged: false }
    ]
    world.approvals = (run) => ({ ...unruled(run), uncertain })
    const { api, page, go } = await suite.visit(look, world)
    await go(`/w/acme/runs/${reviewRun}`, ".decision")
    const words = uncertainWords[to]
    await page.getByText(words.title).waitFor()
    await page.getByText(words.codes.possibly_created).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByTestId("decision").getByRole("button").first().click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText(words.codes.left_over_state).waitFor()
    const decide = dialog.locator("button[type=submit]")
    expect(await decide.textContent()).toBe(decisionWords[to].approveAndApply)
    expect(await decide.isDisabled()).toBe(true)
    await dialog.getByLabel(vocabulary[to].typeName("storefront")).fill("storefront")
    await decide.click()
    await dialog.waitFor({ state: "detached" })
    expect(api.changes[0]?.body).toMatchObject({ acknowledged: ["left_over_state", "possibly_created"] })
  }
)
