import type { Graph } from "../../../../src/dashboard/api/Types.ts"
import { capsules } from "./Capsules.ts"
import { sources } from "./Sources.ts"

const shown = capsules.slice(0, 7)
const [source] = sources

const links = [
  ["4", "1"],
  ["4", "5"],
  ["4", "3"],
  ["1", "2"],
  ["3", "2"],
  ["6", "2"]
]

/** The graph as the server returns it: the Capsules, the values passed between them, and each Capsule's Source. */
export const graph: Graph = {
  nodes: [
    ...(source === undefined
      ? []
      : [{ id: source.id, kind: "source" as const, name: source.name, status: source.status }]),
    ...shown.map(({ id, name, status, environment }) => ({ id, kind: "capsule" as const, name, status, environment }))
  ],
  edges: [
    ...links.map(([from, to], index) => ({
      id: `dep_${index}`,
      from: `cap_000000000000000${from}`,
      to: `cap_000000000000000${to}`,
      mode: "variable_injection"
    })),
    ...(source === undefined
      ? []
      : shown.map(({ id }) => ({ id: `${id}:source`, from: source.id, to: id, mode: "source" })))
  ]
}
