import type { Graph } from "../../../src/dashboard/api/Types.ts"

const statuses = ["active", "active", "active", "active", "stale", "active", "active", "error"] as const
const layers = 7

/**
 * Builds a graph with this many Capsules in seven layers. Each Capsule consumes from two Capsules of the previous layer, and
 * the first Capsule has many consumers.
 */
export const largeGraph = (count: number): Graph => {
  const id = (index: number) => `cap_graph${String(index).padStart(12, "0")}`
  const size = Math.ceil(count / layers)
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: id(index),
    kind: "capsule" as const,
    name: `service-${index}`,
    status: statuses[(index * 7) % statuses.length] ?? "active",
    environment: index % 3 === 0 ? "staging" : "production"
  }))
  const links = nodes.flatMap((_, index): ReadonlyArray<readonly [number, number]> => {
    const before = Math.floor(index / size) - 1
    if (before < 0) return index === 0 ? [] : index % 2 === 0 ? [] : [[0, index + size]]
    const at = (step: number) => before * size + ((index + step) % size)
    return [
      [at(0), index],
      [at(5), index]
    ]
  })
  // Gives every Capsule of the first layer a consumer, because the graph omits Capsules without links.
  const given = new Set(links.map(([from]) => from))
  const missing = nodes.flatMap((_, index) =>
    index < size && !given.has(index) ? [[index, index + size] as const] : []
  )
  return {
    nodes,
    edges: [...links, ...missing]
      .filter(([, to]) => to < count)
      .map(([from, to], index) => ({ id: `dep_${index}`, from: id(from), to: id(to), mode: "variable_injection" }))
  }
}
