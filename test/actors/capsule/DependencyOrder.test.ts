import { expect, test } from "bun:test"
import { dependencyOrder } from "../../../actors/capsule/DependencyOrder.ts"

const edge = (producer: string, consumer: string) => ({ producer, consumer })

test("producers come before their consumers, and independent Capsules keep their order", () => {
  expect(dependencyOrder(["c", "b", "a"], [])).toEqual(["c", "b", "a"])
  expect(dependencyOrder(["c", "b", "a"], [edge("a", "b"), edge("b", "c")])).toEqual(["a", "b", "c"])
  expect(dependencyOrder(["d", "c", "b", "a"], [edge("b", "c"), edge("a", "c")])).toEqual(["d", "b", "a", "c"])
})

test("a producer outside the selection is left out, but still orders its dependants", () => {
  expect(dependencyOrder(["c", "a"], [edge("a", "b"), edge("b", "c")])).toEqual(["a", "c"])
})

test("each appears once, even in a cycle", () => {
  expect(dependencyOrder(["a", "b"], [edge("a", "b"), edge("b", "a")]).toSorted()).toEqual(["a", "b"])
  expect(dependencyOrder(["a", "a"], [])).toEqual(["a"])
})

/** All acyclic graphs over four Capsules: an edge may lead from a lower letter to a higher one. */
test("no consumer ever comes before its producer", () => {
  const ids = ["d", "b", "c", "a"]
  const possible = ["a", "b", "c", "d"].flatMap((one, at, all) => all.slice(at + 1).map((two) => edge(one, two)))
  for (let chosen = 0; chosen < 2 ** possible.length; chosen++) {
    const edges = possible.filter((_edge, bit) => (chosen >> bit) % 2 === 1)
    const order = dependencyOrder(ids, edges)
    expect(order.toSorted()).toEqual(["a", "b", "c", "d"])
    expect(edges.filter(({ consumer, producer }) => order.indexOf(producer) > order.indexOf(consumer))).toEqual([])
  }
})
