import { Link, useNavigate } from "@tanstack/react-router"
import { type KeyboardEvent, useRef, useState } from "react"
import { useWorkspace } from "../../app/Workspace.ts"
import { useWords } from "../../words/Words.ts"
import type { LinkedCapsule, LinkedGraph } from "./Layers.ts"
import { foundIn } from "./Layers.ts"
import { graphWords } from "./Words.ts"

interface FinderProps {
  readonly graph: LinkedGraph
  readonly centre: LinkedCapsule
  readonly search: string
}

/**
 * The search field of the graph. Arrow keys move the focus from the field to the results, and Enter centres the selected
 * Capsule.
 */
export const Finder = ({ graph, centre, search }: FinderProps) => {
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
