import type { WaveEdge } from "../../running/run-group/WaveDecision.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"

/** Sorts producers before their consumers, and otherwise preserves the given order. */
export const dependencyOrder = (
  ids: ReadonlyArray<CapsuleId>,
  edges: ReadonlyArray<WaveEdge>
): ReadonlyArray<CapsuleId> => {
  const ordered: Array<CapsuleId> = []
  const placed = new Set<CapsuleId>()
  const place = (id: CapsuleId) => {
    if (placed.has(id)) return
    placed.add(id)
    for (const edge of edges) if (edge.consumer === id) place(edge.producer)
    if (ids.includes(id)) ordered.push(id)
  }
  ids.forEach(place)
  return ordered
}
