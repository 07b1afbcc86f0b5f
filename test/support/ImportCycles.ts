export interface FileImport {
  readonly file: string
  readonly target: string
}

/**
 * Finds groups of files that import each other, each sorted. Returns no group if the files can be ordered by their imports. Uses
 * Tarjan's strongly connected components.
 */
export const importCycles = (imports: ReadonlyArray<FileImport>): ReadonlyArray<ReadonlyArray<string>> => {
  const targets = Map.groupBy(imports, ({ file }) => file)
  const numbers = new Map<string, number>()
  const stack: Array<string> = []
  const cycles: Array<ReadonlyArray<string>> = []

  /** Returns the lowest number on the stack that the file can reach. */
  const visit = (file: string): number => {
    const number = numbers.size
    numbers.set(file, number)
    stack.push(file)
    let lowest = number
    for (const { target } of targets.get(file) ?? []) {
      if (target === file) cycles.push([file])
      const known = numbers.get(target)
      if (known === undefined) lowest = Math.min(lowest, visit(target))
      else if (stack.includes(target)) lowest = Math.min(lowest, known)
    }
    if (lowest === number) {
      const cycle = stack.splice(stack.indexOf(file))
      if (cycle.length > 1) cycles.push(cycle.toSorted())
    }
    return lowest
  }

  for (const file of targets.keys()) if (!numbers.has(file)) visit(file)
  return cycles
}
