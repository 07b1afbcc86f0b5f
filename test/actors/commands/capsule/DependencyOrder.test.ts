import { expect, test } from "bun:test"
import { Brand } from "effect"
import { dependencyOrder } from "../../../../actors/commands/capsule/DependencyOrder.ts"
import type { WaveEdge } from "../../../../actors/running/run-group/WaveDecision.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"

// Arbitrary strings can be ids here, because the order only compares them.
const capsule = Brand.nominal<CapsuleId>()
const edge = (producer: string, consumer: string): WaveEdge => ({
  producer: capsule(producer),
  consumer: capsule(consumer)
})
const orderOf = (ids: ReadonlyArray<string>, edges: ReadonlyArray<WaveEdge>): ReadonlyArray<string> =>
  dependencyOrder(ids.map(capsule), edges)

test("producers come before their consumers, and independent Capsules keep their order", () => {
  expect(orderOf(["c", "b", "a"], [])).toEqual(["c", "b", "a"])
  expect(orderOf(["c", "b", "a"], [edge("a", "b"), edge("b", "c")])).toEqual(["a", "b", "c"])
  expect(orderOf(["d", "c", "b", "a"], [edge("b", "c"), edge("a", "c")])).toEqual(["d", "b", "a", "c"])
})

test("a producer outside the selection is omitted but still determines the order of its consumers", () => {
  expect(orderOf(["c", "a"], [edge("a", "b"), edge("b", "c")])).toEqual(["a", "c"])
})

test("each Capsule appears once in the order, even if dependencies form a cycle", () => {
  expect(orderOf(["a", "b"], [edge("a", "b"), edge("b", "a")]).toSorted()).toEqual(["a", "b"])
  expect(orderOf(["a", "a"], [])).toEqual(["a"])
})

/** Every acyclic graph of four Capsules whose edges lead from earlier to later letters. */
test("no consumer ever comes before its producer, in any graph", () => {
  const ids = ["d", "b", "c", "a"]
  const possible = ["a", "b", "c", "d"].flatMap((one, at, all) => all.slice(at + 1).map((two) => edge(one, two)))
  for (let chosen = 0; chosen < 2 ** possible.length; chosen++) {
    const edges = possible.filter((_edge, bit) => (chosen >> bit) % 2 === 1)
    const order = orderOf(ids, edges)
    expect(order.toSorted()).toEqual(["a", "b", "c", "d"])
    expect(edges.filter(({ consumer, producer }) => order.indexOf(producer) > order.indexOf(consumer))).toEqual([])
  }
})
