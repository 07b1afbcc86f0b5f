import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { busiest, foundIn, linkedGraph, reachedFrom } from "../../src/dashboard/screens/graph/Layers.ts"

const capsule = (id: string, name = id) => ({
  id,
  kind: "capsule" as const,
  name,
  status: "active",
  environment: "production"
})
const link = (from: string, to: string, mode = "variable_injection") => ({ id: `${from}-${to}`, from, to, mode })

describe("Linked graph", () => {
  test("the linked graph omits Sources and unlinked Capsules", () => {
    const graph = linkedGraph({
      nodes: [
        { id: "src", kind: "source", name: "platform", status: "active" },
        capsule("network"),
        capsule("shop"),
        capsule("alone")
      ],
      edges: [link("src", "network", "source"), link("src", "alone", "source"), link("network", "shop")]
    })
    expect([...graph.capsules.keys()]).toEqual(["network", "shop"])
    expect(graph).toMatchObject({ links: 1, apart: 1 })
    expect(graph.layers.map((layer) => layer.map(({ id }) => id))).toEqual([["network"], ["shop"]])
  })

  test("the linked graph counts two dependencies between the same Capsules as one link", () => {
    const edges = [link("a", "b"), { ...link("a", "b"), id: "again" }]
    expect(linkedGraph({ nodes: [capsule("a"), capsule("b")], edges })).toMatchObject({ links: 1 })
  })

  test("the linked graph places every Capsule after all its producers, as early as possible", () => {
    const graphs = fc.uniqueArray(fc.tuple(fc.nat(30), fc.nat(30)), { maxLength: 80 }).map((pairs) => ({
      nodes: Array.from({ length: 31 }, (_, index) => capsule(`c${index}`)),
      // Links go from a smaller to a larger number, so there are no cycles; the service also guarantees that there are none.
      edges: pairs.filter(([a, b]) => a !== b).map(([a, b]) => link(`c${Math.min(a, b)}`, `c${Math.max(a, b)}`))
    }))
    fc.assert(
      fc.property(graphs, (answer) => {
        const graph = linkedGraph(answer)
        for (const { layer, takesFrom } of graph.capsules.values()) {
          const before = takesFrom.map((id) => graph.capsules.get(id)?.layer ?? Number.NaN)
          expect(layer).toBe(takesFrom.length === 0 ? 0 : Math.max(...before) + 1)
        }
        expect(graph.layers.flat()).toHaveLength(graph.capsules.size)
      })
    )
  })

  test("the linked graph terminates even on a cycle", () => {
    const graph = linkedGraph({
      nodes: ["a", "b", "c"].map((id) => capsule(id)),
      edges: [link("a", "b"), link("b", "c"), link("c", "b")]
    })
    expect(graph.layers.map((layer) => layer.map(({ id }) => id))).toEqual([["a"], ["b", "c"]])
    expect([...reachedFrom(graph, "b", "givesTo")]).toEqual(["c"])
  })

  test("the linked graph finds the Capsules affected by a change, the busiest Capsule, and search matches", () => {
    const graph = linkedGraph({
      nodes: [
        capsule("a", "core"),
        capsule("b", "payments-api"),
        capsule("c", "payments-worker"),
        capsule("d", "shop")
      ],
      edges: [link("a", "b"), link("b", "c"), link("b", "d")]
    })
    expect([...reachedFrom(graph, "a", "givesTo")].toSorted()).toEqual(["b", "c", "d"])
    expect([...reachedFrom(graph, "c", "takesFrom")].toSorted()).toEqual(["a", "b"])
    expect(busiest(graph)?.name).toBe("payments-api")
    expect(foundIn(graph, "PAY prod").map(({ name }) => name)).toEqual(["payments-api", "payments-worker"])
    expect(foundIn(graph, "pay staging")).toEqual([])
  })
})
