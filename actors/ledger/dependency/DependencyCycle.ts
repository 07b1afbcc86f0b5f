/** An edge of the dependency graph, from consumer to producer. */
export interface DependencyEdge {
  readonly producer: string
  readonly consumer: string
}

/**
 * Returns true if the new edge would close a cycle, because the producer already depends on the consumer, directly or indirectly.
 */
export const closesCycle = (edges: ReadonlyArray<DependencyEdge>, { consumer, producer }: DependencyEdge): boolean => {
  const producersOf = new Map<string, Array<string>>()
  for (const edge of edges) {
    const known = producersOf.get(edge.consumer)
    if (known === undefined) producersOf.set(edge.consumer, [edge.producer])
    else known.push(edge.producer)
  }
  const seen = new Set<string>()
  const open = [producer]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === consumer) return true
    if (seen.has(next)) continue
    seen.add(next)
    open.push(...(producersOf.get(next) ?? []))
  }
  return false
}
