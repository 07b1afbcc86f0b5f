import { graphlib, layout } from "@dagrejs/dagre"
import type { Graph } from "../../api/Types.ts"

export const nodeWidth = 208
export const nodeHeight = 60

export interface Placed {
  readonly id: string
  readonly x: number
  readonly y: number
}

/** Places nodes from left to right along the arrows. The same graph always gives the same picture. */
export const arrange = (graph: Graph): ReadonlyArray<Placed> => {
  const drawing = new graphlib.Graph()
  drawing.setGraph({ rankdir: "LR", nodesep: 28, ranksep: 72 })
  drawing.setDefaultEdgeLabel(() => ({}))
  const byName = [...graph.nodes].sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id))
  for (const node of byName) drawing.setNode(node.id, { width: nodeWidth, height: nodeHeight })
  for (const edge of graph.edges) drawing.setEdge(edge.from, edge.to)
  layout(drawing)
  return byName.map(({ id }) => {
    const { x, y } = drawing.node(id)
    return { id, x: (x ?? 0) - nodeWidth / 2, y: (y ?? 0) - nodeHeight / 2 }
  })
}
