import { useNavigate } from "@tanstack/react-router"
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react"
import { Button } from "../../ui/Button.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { type LinkedCapsule, type LinkedGraph, reachedFrom } from "./Layers.ts"
import { graphWords } from "./Words.ts"

/** Number of dots per column in a layer. `Graph.css` uses the same number. */
const rowsOfLayer = 8

const needsSomeone = ({ status }: LinkedCapsule): boolean => status === "error" || status === "stale"

/**
 * Returns the dot to which an arrow key moves: the next dot in the layer, or the dot at the same height in an adjacent
 * layer.
 */
const nextDot = (graph: LinkedGraph, from: LinkedCapsule, key: string): LinkedCapsule | undefined => {
  const layer = graph.layers[from.layer] ?? []
  const at = layer.indexOf(from)
  if (key === "ArrowDown") return layer[at + 1]
  if (key === "ArrowUp") return layer[at - 1]
  const other = key === "ArrowRight" ? graph.layers[from.layer + 1] : graph.layers[from.layer - 1]
  return other?.[Math.min(at % rowsOfLayer, other.length - 1)]
}

/** The centre of a dot within the scrolled drawing. */
interface Spot {
  readonly x: number
  readonly y: number
}

const spotOf = (dot: HTMLElement): Spot => ({
  x: dot.offsetLeft + dot.offsetWidth / 2,
  y: dot.offsetTop + dot.offsetHeight / 2
})

/** Producer-consumer pairs of one Capsule, or of all Capsules. */
const linksOf = (graph: LinkedGraph, around: LinkedCapsule | undefined): ReadonlyArray<readonly [string, string]> =>
  around === undefined
    ? [...graph.capsules.values()].flatMap(({ id, takesFrom }) => takesFrom.map((from) => [from, id] as const))
    : [
        ...around.takesFrom.map((from) => [from, around.id] as const),
        ...around.givesTo.map((to) => [around.id, to] as const)
      ]

/**
 * Draws every linked Capsule as a dot in its layer, so that people can see and reach all of them. The drawing is a single
 * Tab stop.
 */
export const Overview = ({ graph, centre }: { readonly graph: LinkedGraph; readonly centre: LinkedCapsule }) => {
  const words = useWords(graphWords)
  const navigate = useNavigate()
  const dots = useRef(new Map<string, HTMLButtonElement>())
  const place = useRef<HTMLDivElement>(null)
  const [isAll, setAll] = useState(false)
  /** The Capsule that is hovered or focused. */
  const [active, setActive] = useState<LinkedCapsule>()
  const [drawn, setDrawn] = useState<{
    readonly paths: string
    readonly spot: Spot | undefined
    readonly width: number
  }>()
  useLayoutEffect(() => {
    const element = place.current
    if (element === null || (!isAll && active === undefined)) {
      setDrawn(undefined)
      return
    }
    const draw = () => {
      const paths = linksOf(graph, isAll ? undefined : active).flatMap(([from, to]) => {
        const [producer, consumer] = [dots.current.get(from), dots.current.get(to)]
        if (producer === undefined || consumer === undefined) return []
        const [start, end] = [spotOf(producer), spotOf(consumer)]
        const middle = (start.x + end.x) / 2
        return [`M${start.x} ${start.y}C${middle} ${start.y} ${middle} ${end.y} ${end.x} ${end.y}`]
      })
      const dot = active === undefined ? undefined : dots.current.get(active.id)
      setDrawn({
        paths: paths.join(""),
        spot: dot === undefined ? undefined : spotOf(dot),
        width: element.scrollWidth
      })
    }
    draw()
    // Draw again when the page's width changes, because the dots move.
    const observer = new ResizeObserver(draw)
    observer.observe(element)
    return () => observer.disconnect()
  }, [graph, isAll, active])
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
        <>
          <ul className="legend">
            <li className="legend-touched">{words.touched(centre.name)}</li>
            <li className="legend-needs">{words.needsSomeone}</li>
          </ul>
          <Button small aria-pressed={isAll} onClick={() => setAll((all) => !all)}>
            {words.allLinks}
          </Button>
        </>
      }
    >
      <div className="layers-place" ref={place}>
        {drawn === undefined ? null : (
          <svg className="layers-links" aria-hidden="true">
            <path d={drawn.paths} />
          </svg>
        )}
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
                    onPointerEnter={() => setActive(capsule)}
                    onPointerLeave={() => setActive(undefined)}
                    onFocus={() => setActive(capsule)}
                    onBlur={() => setActive(undefined)}
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
        {active === undefined || drawn?.spot === undefined ? null : (
          <span
            className={drawn.spot.x > drawn.width / 2 ? "dot-name dot-name-left" : "dot-name"}
            aria-hidden="true"
            style={{ left: drawn.spot.x, top: drawn.spot.y }}
          >
            {active.name} · {active.environment}
          </span>
        )}
      </div>
    </Panel>
  )
}
