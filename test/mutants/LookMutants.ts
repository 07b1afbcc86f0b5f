import type { Mutant } from "./Mutant.ts"

const layers = "test/dashboard/GraphLayers.test.ts"
const lines = "test/dashboard/ActivityLines.test.ts"

/** Mutants of the dashboard's graph and activity: without the guards, comments are missing or false facts are shown. */
export const lookMutants: ReadonlyArray<Mutant> = [
  {
    name: "graph: a Source is no dependency",
    file: "src/dashboard/screens/graph/Layers.ts",
    text: 'graph.nodes.filter(({ kind }) => kind === "capsule")',
    broken: "graph.nodes",
    test: layers
  },
  {
    name: "graph: after everything that it takes from",
    file: "src/dashboard/screens/graph/Layers.ts",
    text: "(takes.get(id) ?? []).every((producer)",
    broken: "(takes.get(id) ?? []).some((producer)",
    test: layers
  },
  {
    name: "activity: what somebody said is not folded away",
    file: "src/dashboard/app/ActivityLines.ts",
    text: "  commentOf(one) === undefined &&\n  commentOf(other) === undefined",
    broken: "  true",
    test: lines
  },
  {
    name: "activity: the sync that brought something is told",
    file: "src/dashboard/app/ActivityLines.ts",
    text: "if (known.has(brought)) without.add(id)",
    broken: "without.add(id)",
    test: lines
  }
]
