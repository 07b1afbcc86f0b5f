import { useNavigate } from "@tanstack/react-router"
import { type KeyboardEvent, useRef } from "react"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { type LinkedCapsule, type LinkedGraph, reachedFrom } from "./Layers.ts"
import { graphWords } from "./Words.ts"

/** Number of dots per column in a layer. `Graph.css` uses the same number. */
const rowsOfLayer = 8

const needsSomeone = ({ status }: LinkedCapsule): boolean => status === "error" || status === "stale"

/** The next dot for an arrow key: along the layer, or at the same height in an adjacent layer. */
const nextDot = (graph: LinkedGraph, from: LinkedCapsule, key: string): LinkedCapsule | undefined => {
  const layer = graph.layers[from.layer] ?? []
  const at = layer.indexOf(from)
  if (key === "ArrowDown") return layer[at + 1]
  if (key === "ArrowUp") return layer[at - 1]
  const other = key === "ArrowRight" ? graph.layers[from.layer + 1] : graph.layers[from.layer - 1]
  return other?.[Math.min(at % rowsOfLayer, other.length - 1)]
}

/** Shows every linked Capsule as a dot in its layer, for orientation and selection. It is a single Tab stop. */
export const Overview = ({ graph, centre }: { readonly graph: LinkedGraph; readonly centre: LinkedCapsule }) => {
  const words = useWords(graphWords)
  const navigate = useNavigate()
  const dots = useRef(new Map<string, HTMLButtonElement>())
  const touched = new Set([...reachedFrom(graph, centre.id, "takesFrom"), ...reachedFrom(graph, centre.id, "givesTo")])
  const look = (capsule: LinkedCapsule): string =>
    capsule.id === centre.id
      ? "dot dot-centre"
      : `dot${touched.has(capsule.id) ? " dot-touched" : ""}${needsSomeone(capsule) ? " dot-needs" : ""}`
  const onKeyDown = (event: KeyboardEvent, from: LinkedCapsule) => {
    if (!/^Arrow(?:Up|Down|Left|Right)$/.test(event.key)) return
    event.preventDefault()
    const next = nextDot(graph, from, event.key)
    if (next !== undefined) dots.current.get(next.id)?.focus()
  }
  return (
    <Panel
      flush
      title={words.overview(graph.capsules.size)}
      beside={<span className="count">{words.overviewAbout}</span>}
      actions={
        <ul className="legend">
          <li className="legend-touched">{words.touched(centre.name)}</li>
          <li className="legend-needs">{words.needsSomeone}</li>
        </ul>
      }
    >
      <ol className={graph.layers.some(({ length }) => length > rowsOfLayer) ? "layers" : "layers layers-low"}>
        {graph.layers.map((layer, index) => (
          <li key={layer[0]?.id ?? index} className="layer">
            <span className="visually-hidden">{words.layer(index, layer.length)}</span>
            <span aria-hidden="true">{index}</span>
            <div className="dots">
              {layer.map((capsule) => (
                <button
                  key={capsule.id}
                  ref={(dot) => {
                    if (dot === null) dots.current.delete(capsule.id)
                    else dots.current.set(capsule.id, dot)
                  }}
                  type="button"
                  className={look(capsule)}
                  aria-label={`${capsule.name} ${capsule.environment}${needsSomeone(capsule) ? `, ${words.needsSomeone}` : ""}`}
                  aria-current={capsule.id === centre.id || undefined}
                  title={`${capsule.name} · ${capsule.environment}`}
                  tabIndex={capsule.id === centre.id ? 0 : -1}
                  onClick={() => void navigate({ to: ".", search: (before) => ({ ...before, around: capsule.id }) })}
                  onKeyDown={(event) => onKeyDown(event, capsule)}
                />
              ))}
            </div>
            <span aria-hidden="true">{layer.length}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
