import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { useMemo } from "react"
import { graphQuery } from "../../api/Queries.ts"
import type { Graph } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Page } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { Finder } from "./Finder.tsx"
import { busiest, linkedGraph } from "./Layers.ts"
import { Neighbours } from "./Neighbours.tsx"
import { Overview } from "./Overview.tsx"
import { graphWords } from "./Words.ts"

const Keys = () => {
  const words = useWords(graphWords)
  return usePreferences().letterKeys ? (
    <p className="graph-keys">
      <kbd>←</kbd> <kbd>→</kbd> {words.keys.walk} · <kbd>Enter</kbd> {words.keys.centre} · <kbd>/</kbd>{" "}
      {words.keys.search}
    </p>
  ) : null
}

const Content = ({ graph: answer }: { readonly graph: Graph }) => {
  const words = useWords(graphWords)
  const { around, q = "" } = useSearch({ from: "/w/$workspace/graph" })
  const graph = useMemo(() => linkedGraph(answer), [answer])
  const centre = (around === undefined ? undefined : graph.capsules.get(around)) ?? busiest(graph)
  if (centre === undefined)
    return (
      <Page title={words.title}>
        <Empty icon="graph" title={words.emptyTitle}>
          <p>{words.emptyText}</p>
        </Empty>
      </Page>
    )
  const nameOf = (id: string) => graph.capsules.get(id)?.name ?? id
  return (
    <Page
      title={words.title}
      about={`${words.about(graph.capsules.size, graph.links, graph.layers.length)}${graph.apart === 0 ? "" : ` ${words.apart(graph.apart)}`}`}
    >
      <Overview graph={graph} centre={centre} />
      <section className="panel graph" aria-label={words.around(centre.name)}>
        <Finder graph={graph} centre={centre} search={q} />
        <div className="graph-drawing">
          <Neighbours key={centre.id} graph={graph} centre={centre} />
          <Keys />
        </div>
      </section>
      <details className="fold">
        <summary>{words.list}</summary>
        <ul className="plain-list">
          {[...graph.capsules.values()].flatMap(({ id, name, takesFrom }) =>
            takesFrom.map((from) => (
              <li key={`${id} ${from}`}>
                <strong>{name}</strong> {words.takes(nameOf(from))}
              </li>
            ))
          )}
        </ul>
      </details>
    </Page>
  )
}

export const GraphScreen = () => {
  const words = useWords(graphWords)
  const workspace = useWorkspace()
  const query = useQuery(graphQuery(workspace.id))
  return query.data === undefined ? (
    <Page title={words.title}>
      <Loadable query={query} skeleton={<Skeleton rows={1} height="block" />}>
        {() => null}
      </Loadable>
    </Page>
  ) : (
    <Content graph={query.data} />
  )
}
