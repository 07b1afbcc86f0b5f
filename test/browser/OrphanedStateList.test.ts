import { describe, expect, test } from "bun:test"
import { failedRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const capsuleId = "cap_0000000000000003"
const title = "An apply left a state that svc did not take"

describe("Left-over states", () => {
  test("a left-over state is shown with its details, and adopted only after the capsule's name is typed", async () => {
    const world = newWorld()
    const { page, faults, go } = await suite.visit(undefined, world)
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (request.method() !== "GET") asked.push(`${new URL(request.url()).pathname} ${request.postData() ?? ""}`)
    })
    await go(`/w/acme/capsules/${capsuleId}`, ".notice")
    const notice = page.locator(".notice", { hasText: title })
    await notice.getByText("It could not be read completely.").waitFor()
    await notice.getByText("Serial 12, 18.0 KiB · 9 resources").waitFor()
    await notice.getByRole("button", { name: "Adopt" }).click()
    const dialog = page.getByRole("dialog")
    const adopt = dialog.getByRole("button", { name: "Adopt" })
    expect(await adopt.isDisabled()).toBe(true)
    await dialog.getByLabel("Type billing-database to confirm").fill("billing-databas")
    expect(await adopt.isDisabled()).toBe(true)
    await dialog.getByLabel("Type billing-database to confirm").fill("billing-database")
    await adopt.click()
    await page.getByText("The state was adopted.").waitFor()
    await notice.waitFor({ state: "detached" })
    expect(asked).toEqual([
      `/api/v1/capsules/${capsuleId}/left-over-states/lo_0000000000000001/adopt ${JSON.stringify({
        confirm: "billing-database",
        expected: {
          authorityGuard: world.capsules.find(({ id }) => id === capsuleId)?.installConfigReAdoption.authorityGuard
        }
      })}`
    ])
    expect(faults).toEqual([])
  })

  test("the run of a left-over state shows why the state cannot be adopted, and can discard the state", async () => {
    const world = newWorld()
    world.leftOvers = world.leftOvers.map((each) => ({
      ...each,
      adoptionProblems: [{ code: "serial_older", message: "Its serial is 12; the current state is newer with 14." }]
    }))
    const { page, faults, go } = await suite.visit(undefined, world)
    await go(`/w/acme/runs/${failedRun}`, ".notice")
    const notice = page.locator(".notice", { hasText: title })
    await notice.getByText("the current state is newer with 14").waitFor()
    expect(await notice.getByRole("button", { name: "Adopt" }).count()).toBe(0)
    await notice.getByRole("button", { name: "Discard" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("svc admin left-over-states download lo_0000000000000001").waitFor()
    await dialog.getByLabel("Type billing-database to confirm").fill("billing-database")
    await dialog.getByRole("button", { name: "Discard" }).click()
    await notice.waitFor({ state: "detached" })
    expect(world.leftOvers.map(({ status }) => status)).toEqual(["discarded"])
    expect(faults).toEqual([])
  })
})
