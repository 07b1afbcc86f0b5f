import { expect, test } from "bun:test"
import { Schema } from "effect"
import { estimateCost, type PriceTable } from "../../actors/ledger/run/CostEstimates.ts"
import { RunId } from "../../schema/records/Ids.ts"
import type { ResourceChange } from "../../schema/records/PlanDetails.ts"
import { impactWords } from "../../src/dashboard/screens/run/ImpactWords.ts"

const id = Schema.decodeSync(RunId)("run_0000000000000001")

const created = (type: string, changedAttributes: ResourceChange["changedAttributes"] = []): ResourceChange => ({
  address: `${type}.a`,
  mode: "managed",
  type,
  name: "a",
  provider: "example/demo",
  actions: ["create"],
  changedAttributes
})

const table: PriceTable = {
  currency: "EUR",
  items: [{ type: "demo_disk", when: { size: "large" }, monthly: 1 }]
}

test("every reason for an incomplete cost estimate has a Japanese message", () => {
  const changes = [created("demo_disk", [{ name: "size", unknown: true }]), created("other_thing")]
  const reasons = [
    ...estimateCost(undefined, { id }).reasons,
    ...estimateCost(table, { id }).reasons,
    ...estimateCost(table, { id, resourceChanges: changes }).reasons
  ]
  expect(reasons).toHaveLength(4)
  for (const reason of reasons) expect(impactWords.ja.costReason(reason)).toMatch(/\p{Script=Hiragana}.*。$/u)
  expect(impactWords.ja.costReason("constructor")).toBe("constructor")
})
