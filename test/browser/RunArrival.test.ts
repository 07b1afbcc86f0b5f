import { expect, test } from "bun:test"
import { worldOfPlan } from "./support/BigPlan.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

test("a plan of several megabytes is read and parsed once, in parallel with its capsule", async () => {
  const { page, faults, go } = await suite.visit(undefined, worldOfPlan(400, true))
  const asked: Array<string> = []
  page.on("request", (request) => asked.push(new URL(request.url()).pathname))
  const count = (path: RegExp) => asked.filter((each) => path.test(each)).length
  await go(`/w/acme/runs/${reviewRun}`, ".change")
  // The page reads the approvals a second time only after it has received the replayed events.
  while (count(/\/approvals$/) < 2) await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(count(new RegExp(`^/api/v1/runs/${reviewRun}$`))).toBe(1)
  const arriving = asked.slice(
    0,
    asked.findIndex((each) => each.endsWith("/approvals"))
  )
  expect(arriving.filter((each) => /^\/api\/v1\/capsules\/[^/]+$/.test(each))).toHaveLength(1)
  expect(count(/\/change-causes$/)).toBe(1)
  expect(faults).toEqual([])
})
