import { expect, test } from "bun:test"
import { bulkPlanOf, onlyVerbOf, sumOfPlans } from "../../src/dashboard/app/BulkPlans.ts"

const none = { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }
const plan = { id: "run_1", type: "plan" as const, planDigest: "sha256:1", planSummary: { ...none, add: 2 } }
const capsule = { name: "storefront", environment: "production" }

test("bulk decisions offer only plans that never destroy, replace or forget anything", () => {
  expect(bulkPlanOf(plan, capsule)).toEqual({
    runId: "run_1",
    planDigest: "sha256:1",
    summary: plan.planSummary,
    name: "storefront",
    environment: "production"
  })
  for (const loss of ["destroy", "replace", "forget"] as const) {
    expect(bulkPlanOf({ ...plan, planSummary: { ...plan.planSummary, [loss]: 1 } }, capsule)).toBeUndefined()
  }
  expect(bulkPlanOf({ ...plan, type: "destroy_plan" }, capsule)).toBeUndefined()
  expect(bulkPlanOf({ ...plan, type: "restore" }, capsule)).toBeUndefined()
})

test("bulk decisions exclude plans without a digest or without known changes", () => {
  expect(bulkPlanOf({ id: "run_1", type: "plan", planSummary: none }, capsule)).toBeUndefined()
  expect(bulkPlanOf({ id: "run_1", type: "plan", planDigest: "sha256:1" }, capsule)).toBeUndefined()
})

test("bulk decisions add up the changes of several plans, and show the verb if all changes have the same verb", () => {
  const found = [plan, { ...plan, id: "run_2", planSummary: { ...none, add: 1 } }].flatMap(
    (each) => bulkPlanOf(each, capsule) ?? []
  )
  expect(sumOfPlans(found)).toEqual({ ...none, add: 3 })
  expect(onlyVerbOf(sumOfPlans(found))).toBe("create")
  expect(onlyVerbOf({ ...none, change: 1 })).toBe("update")
  expect(onlyVerbOf({ ...none, import: 1 })).toBe("import")
  expect(onlyVerbOf(none)).toBe("none")
  expect(onlyVerbOf({ ...none, add: 1, change: 1 })).toBeUndefined()
})
