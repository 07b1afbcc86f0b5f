import type { Graph } from "../../api/Types.ts"

type GraphNode = Graph["nodes"][number]

/** A Capsule that consumes or provides Outputs of other Capsules. */
export interface LinkedCapsule {
  readonly id: string
  readonly name: string
  readonly environment: string
  readonly status: string
  /** The number of steps from a Capsule without producers. Every producer has a smaller number than its consumers. */
  readonly layer: number
  readonly takesFrom: ReadonlyArray<string>
  readonly givesTo: ReadonlyArray<string>
}

export interface LinkedGraph {
  /** Sorted by layer, and by name within a layer. */
  readonly capsules: ReadonlyMap<string, LinkedCapsule>
  readonly layers: ReadonlyArray<ReadonlyArray<LinkedCapsule>>
  readonly links: number
  /** Number of Capsules without producers or consumers. */
  readonly apart: number
}

const byName = (a: GraphNode, b: GraphNode): number => a.name.localeCompare(b.name, "en") || a.id.localeCompare(b.id)

const grouped = (pairs: ReadonlyArray<readonly [string, string]>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const groups = new Map<string, Set<string>>()
  for (const [key, value] of pairs) groups.set(key, (groups.get(key) ?? new Set()).add(value))
  return new Map([...groups].map(([key, values]) => [key, [...values]]))
}

/**
 * Assigns layers, starting with Capsules without producers. A Capsule gets a layer after all its producers. Capsules in a cycle
 * get the last layer.
 */
const layersOf = (
  ids: ReadonlyArray<string>,
  takes: ReadonlyMap<string, ReadonlyArray<string>>
): ReadonlyMap<string, number> => {
  const layers = new Map<string, number>()
  let waiting = ids
  for (let layer = 0; waiting.length > 0; layer += 1) {
    const ready = waiting.filter((id) => (takes.get(id) ?? []).every((producer) => layers.has(producer)))
    const placed = ready.length === 0 ? waiting : ready
    for (const id of placed) layers.set(id, layer)
    waiting = waiting.filter((id) => !layers.has(id))
  }
  return layers
}

/**
 * Returns the Capsules that have dependencies on each other, with their links. Capsules are not linked merely because they
 * share a Source.
 */
export const linkedGraph = (graph: Graph): LinkedGraph => {
  const known = new Map(graph.nodes.filter(({ kind }) => kind === "capsule").map((node) => [node.id, node]))
  const links = graph.edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to)
  const takes = grouped(links.map(({ from, to }) => [to, from]))
  const gives = grouped(links.map(({ from, to }) => [from, to]))
  const linked = [...known.values()].filter(({ id }) => takes.has(id) || gives.has(id)).toSorted(byName)
  const order = new Map(linked.map(({ id }, index) => [id, index]))
  const sorted = (ids: ReadonlyArray<string> = []) => ids.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
  const layerOf = layersOf(
    linked.map(({ id }) => id),
    takes
  )
  const capsules = linked
    .map(
      ({ id, name, environment = "", status }): LinkedCapsule => ({
        id,
        name,
        environment,
        status,
        layer: layerOf.get(id) ?? 0,
        takesFrom: sorted(takes.get(id)),
        givesTo: sorted(gives.get(id))
      })
    )
    .toSorted((a, b) => a.layer - b.layer)
  const layers: Array<Array<LinkedCapsule>> = []
  for (const capsule of capsules) (layers[capsule.layer] ??= []).push(capsule)
  return {
    capsules: new Map(capsules.map((capsule) => [capsule.id, capsule])),
    layers,
    links: [...takes.values()].reduce((sum, producers) => sum + producers.length, 0),
    apart: known.size - linked.length
  }
}

/** Returns all direct and indirect producers, or all direct and indirect consumers, of a Capsule. */
export const reachedFrom = (graph: LinkedGraph, id: string, way: "takesFrom" | "givesTo"): ReadonlySet<string> => {
  const reached = new Set<string>()
  const waiting = [id]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const one of graph.capsules.get(next)?.[way] ?? []) {
      if (one === id || reached.has(one)) continue
      reached.add(one)
      waiting.push(one)
    }
  }
  return reached
}

/** Returns the Capsule to show first, which has the most links. */
export const busiest = (graph: LinkedGraph): LinkedCapsule | undefined =>
  [...graph.capsules.values()].reduce<LinkedCapsule | undefined>((found, capsule) => {
    const links = ({ takesFrom, givesTo }: LinkedCapsule) => takesFrom.length + givesTo.length
    return found === undefined || links(capsule) > links(found) ? capsule : found
  }, undefined)

const folded = (text: string): string => text.normalize("NFKC").toLowerCase()

/** Returns the Capsules whose name or environment contains every word. */
export const foundIn = (graph: LinkedGraph, search: string): ReadonlyArray<LinkedCapsule> => {
  const words = folded(search)
    .split(/\s+/)
    .filter((word) => word !== "")
  return [...graph.capsules.values()]
    .filter(({ name, environment }) => words.every((word) => folded(`${name} ${environment}`).includes(word)))
    .toSorted(byNameOfCapsule)
}

const byNameOfCapsule = (a: LinkedCapsule, b: LinkedCapsule): number =>
  a.name.localeCompare(b.name, "en", { numeric: true }) || a.id.localeCompare(b.id)
