import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { type KeyboardEvent, useMemo, useRef, useState } from "react"
import { graphQuery } from "../../api/Queries.ts"
import type { Graph } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Page } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { busiest, foundIn, type LinkedCapsule, linkedGraph, type LinkedGraph } from "./Layers.ts"
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

interface FinderProps {
  readonly graph: LinkedGraph
  readonly centre: LinkedCapsule
  readonly search: string
}

/**
 * The search field of the graph. Arrow keys move the focus from the field to the results, and Enter centres the selected
 * Capsule.
 */
const Finder = ({ graph, centre, search }: FinderProps) => {
  const words = useWords(graphWords)
  const { handle } = useWorkspace()
  const navigate = useNavigate()
  const place = useRef<HTMLDivElement>(null)
  // The field stores its own text instead of reading it from the URL, because waiting for the URL to change would interrupt
  // Japanese text input.
  const [typed, setTyped] = useState(search)
  const found = foundIn(graph, search)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step === 0) return
    const stops = [...(place.current?.querySelectorAll<HTMLElement>("input, a") ?? [])]
    const next = stops[stops.findIndex((stop) => stop === document.activeElement) + step]
    if (next === undefined) return
    event.preventDefault()
    next.focus()
  }
  return (
    <div className="finder" ref={place} onKeyDown={onKeyDown} role="presentation">
      <div className="finder-search">
        <input
          type="search"
          className="input input-small"
          data-page-search
          aria-label={words.search}
          placeholder={words.search}
          value={typed}
          onChange={({ target: { value } }) => {
            setTyped(value)
            void navigate({
              to: ".",
              search: (before) => ({ ...before, q: value === "" ? undefined : value }),
              replace: true
            })
          }}
        />
      </div>
      <output className="finder-count">{words.found(found.length, graph.capsules.size)}</output>
      {found.length === 0 ? <p className="finder-none">{words.nothingFound}</p> : null}
      <ul className="finder-list" aria-label={words.results}>
        {found.map((capsule) => (
          <li key={capsule.id}>
            <Link
              to="/w/$workspace/graph"
              params={{ workspace: handle }}
              search={{ around: capsule.id, q: search === "" ? undefined : search }}
              className="finder-row"
              aria-current={capsule.id === centre.id || undefined}
            >
              <span className="finder-name">
                {capsule.name} <span className="muted">{capsule.environment}</span>
              </span>
              <span className="count">{words.inOut(capsule.takesFrom.length, capsule.givesTo.length)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
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
