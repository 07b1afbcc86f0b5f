import type { WaveEdge } from "../run-group/WaveDecision.ts"

/** Producers before their consumers; independent ones keep their order. */
export const dependencyOrder = (ids: ReadonlyArray<string>, edges: ReadonlyArray<WaveEdge>): ReadonlyArray<string> => {
  const ordered: Array<string> = []
  const placed = new Set<string>()
  const place = (id: string) => {
    if (placed.has(id)) return
    placed.add(id)
    for (const edge of edges) if (edge.consumer === id) place(edge.producer)
    if (ids.includes(id)) ordered.push(id)
  }
  ids.forEach(place)
  return ordered
}
