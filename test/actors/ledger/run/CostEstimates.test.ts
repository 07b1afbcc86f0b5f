import { describe, expect, test } from "bun:test"
import { Schema } from "effect"
import { estimateCost, type PriceTable } from "../../../../actors/ledger/run/CostEstimates.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import type { ResourceChange } from "../../../../schema/records/PlanDetails.ts"

const id = Schema.decodeSync(RunId)("run_0000000000000001")

const change = (
  name: string,
  actions: ReadonlyArray<string>,
  changedAttributes: ResourceChange["changedAttributes"] = [],
  type = "demo_server"
): ResourceChange => ({
  address: `${type}.${name}`,
  mode: "managed",
  type,
  name,
  provider: "example/demo",
  actions,
  changedAttributes
})

const table: PriceTable = {
  currency: "EUR",
  items: [
    { type: "demo_server", monthly: 5 },
    { type: "demo_server", when: { size: "large" }, monthly: 40.1 },
    { type: "demo_server", when: { size: "large", region: "far" }, monthly: 60.2 },
    { type: "demo_disk", when: { encrypted: true }, monthly: 0.3 }
  ]
}
const estimate = (...resourceChanges: ReadonlyArray<ResourceChange>) => estimateCost(table, { id, resourceChanges })

describe("Cost estimates", () => {
  test("a cost estimate needs both prices and a plan", () => {
    expect(estimateCost(undefined, { id, resourceChanges: [] })).toMatchObject({
      status: "not_available",
      reasons: ["The operator of this server has given no price table."]
    })
    expect(estimateCost(table, { id })).toMatchObject({ status: "not_available", items: [] })
  })

  test("a cost estimate adds created resources and subtracts destroyed ones, each at the best-matching price", () => {
    const large = { name: "size", after: "large" }
    const answer = estimate(
      change("small", ["create"], [{ name: "size", after: "small" }]),
      change("large", ["create"], [large]),
      change("far", ["create"], [large, { name: "region", after: "far" }]),
      change("old", ["delete"], [{ name: "size", before: "large" }])
    )
    expect(answer.items.map(({ monthlyDelta }) => monthlyDelta)).toEqual([5, 40.1, 60.2, -40.1])
    expect(answer).toMatchObject({ status: "estimated", currency: "EUR", monthlyDelta: 65.2, reasons: [] })
    expect(answer.items[3]).not.toHaveProperty("monthlyAfter")
    expect(answer.items[0]).not.toHaveProperty("monthlyBefore")
  })

  test("a cost estimate counts the price difference of an update or a replacement", () => {
    const attributes = [
      { name: "region", before: "near", after: "near" },
      { name: "size", before: "small", after: "large" }
    ]
    const [updated, replaced] = estimate(
      change("updated", ["update"], attributes),
      change("replaced", ["delete", "create"], attributes)
    ).items
    expect(updated).toMatchObject({ monthlyBefore: 5, monthlyAfter: 40.1, monthlyDelta: 35.1 })
    expect(replaced?.monthlyDelta).toBe(35.1)
  })

  test("a cost estimate is zero if no priced attribute changes", () => {
    const answer = estimate(
      change("tagged", ["update"], [{ name: "tags", before: 1, after: 2 }]),
      change("moved", ["no-op"]),
      change("forgotten", ["forget"])
    )
    expect(answer).toMatchObject({ status: "estimated", monthlyDelta: 0, reasons: [] })
    expect(answer.items).toHaveLength(3)
  })

  test("a cost estimate skips resources whose price is unknown, and reports them as skipped", () => {
    const answer = estimate(
      change("a", ["create"], [{ name: "size", unknown: true }]),
      change("b", ["create"], [{ name: "size", sensitive: true }]),
      // The review omits the region, because it is unchanged. Two prices depend on the region, so the estimate skips the
      // change.
      change("c", ["update"], [{ name: "size", before: "small", after: "large" }]),
      change("d", ["create"], [], "demo_disk"),
      change("e", ["create"], [], "other_thing"),
      change("f", ["create"], [{ name: "encrypted", after: true }], "demo_disk")
    )
    expect(answer.items.map(({ address }) => address)).toEqual(["demo_disk.f"])
    expect(answer.reasons).toEqual([
      "demo_disk (1): the price table has no price.",
      "other_thing (1): the price table has no price.",
      "demo_server (3): its price depends on a value that is not known before the apply, or not shown."
    ])
    expect(estimate(change("e", ["create"], [], "other_thing"))).toMatchObject({ status: "not_available", items: [] })
  })

  test("a cost estimate ignores data sources", () => {
    const read = { ...change("d", ["read"]), mode: "data" }
    expect(estimate(read)).toMatchObject({ status: "estimated", items: [], monthlyDelta: 0 })
  })
})
