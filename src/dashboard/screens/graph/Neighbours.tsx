import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type KeyboardEvent, useRef, useState } from "react"
import { capsuleStatuses } from "../../../../schema/records/CapsuleLifecycle.ts"
import { dependenciesQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { CapsuleStatus, Status } from "../../ui/Status.tsx"
import { useWords } from "../../words/Words.ts"
import { type LinkedCapsule, type LinkedGraph, reachedFrom } from "./Layers.ts"
import { graphWords } from "./Words.ts"

/** Dimensions from `Graph.css`: the height of a neighbour, and the distance to the next one. */
const height = 64
const pitch = 76
/** Shows more neighbours only on request, so that the Capsule in the middle remains visible. */
const shownAtOnce = 8

const Standing = ({ status }: { readonly status: string }) => {
  const known = capsuleStatuses.find((each) => each === status)
  return known === undefined ? <Status tone="neutral">{status}</Status> : <CapsuleStatus status={known} />
}

const Neighbour = ({
  capsule,
  outputs
}: {
  readonly capsule: LinkedCapsule
  readonly outputs: ReadonlyArray<string>
}) => {
  const { handle } = useWorkspace()
  return (
    <Link
      to="/w/$workspace/graph"
      params={{ workspace: handle }}
      search={(before) => ({ ...before, around: capsule.id })}
      className={capsule.status === "error" ? "node node-sick" : "node"}
    >
      <span className="node-name">
        <strong>{capsule.name}</strong>
        <span className="tag">{capsule.environment}</span>
      </span>
      <Standing status={capsule.status} />
      {outputs.length === 0 ? null : <code className="node-outputs">{outputs.join(", ")}</code>}
    </Link>
  )
}

/** Lines that connect the Capsule in the middle to each neighbour on one side. */
const Links = ({ count, rows, way }: { readonly count: number; readonly rows: number; readonly way: "in" | "out" }) => {
  const whole = Math.max(rows, 1) * pitch - (pitch - height)
  const first = (whole - (count * pitch - (pitch - height))) / 2 + height / 2
  const middle = whole / 2
  return (
    <svg className="links" viewBox={`0 0 100 ${whole}`} height={whole} preserveAspectRatio="none" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => {
        const at = first + index * pitch
        const [from, to] = way === "in" ? [at, middle] : [middle, at]
        return <path key={at} d={`M0 ${from}C50 ${from} 50 ${to} 100 ${to}`} />
      })}
    </svg>
  )
}

interface ColumnProps {
  readonly title: string
  readonly further: string | undefined
  readonly nothing: string
  readonly capsules: ReadonlyArray<LinkedCapsule>
  readonly outputsOf: (id: string) => ReadonlyArray<string>
  readonly all: number
  readonly onAll: () => void
}

const Column = ({ title, further, nothing, capsules, outputsOf, all, onAll }: ColumnProps) => {
  const words = useWords(graphWords)
  return (
    <section className="neighbours-column" aria-label={title}>
      <h3>
        {title} {further === undefined ? null : <span className="muted">({further})</span>}
      </h3>
      {all === 0 ? <p className="muted">{nothing}</p> : null}
      <ul>
        {capsules.map((capsule) => (
          <li key={capsule.id}>
            <Neighbour capsule={capsule} outputs={outputsOf(capsule.id)} />
          </li>
        ))}
      </ul>
      {capsules.length < all ? (
        <Button small onClick={onAll}>
          {words.all(all)}
        </Button>
      ) : null}
    </section>
  )
}

/** A Capsule in full size between its producers and consumers. */
export const Neighbours = ({ graph, centre }: { readonly graph: LinkedGraph; readonly centre: LinkedCapsule }) => {
  const words = useWords(graphWords)
  const { handle } = useWorkspace()
  const place = useRef<HTMLDivElement>(null)
  const [whole, setWhole] = useState(false)
  const dependencies = useQuery(dependenciesQuery(centre.id)).data ?? []
  const known = (ids: ReadonlyArray<string>) => ids.flatMap((id) => graph.capsules.get(id) ?? [])
  const takes = known(centre.takesFrom)
  const gives = known(centre.givesTo)
  const shown = (capsules: ReadonlyArray<LinkedCapsule>) => (whole ? capsules : capsules.slice(0, shownAtOnce))
  const rows = Math.max(shown(takes).length, shown(gives).length, 3)
  const reached = reachedFrom(graph, centre.id, "givesTo").size
  const needed = reachedFrom(graph, centre.id, "takesFrom").size
  const outputsTo = (consumer: string, producer: string) =>
    dependencies
      .filter(
        ({ consumerCapsuleId, producerCapsuleId }) => consumerCapsuleId === consumer && producerCapsuleId === producer
      )
      .flatMap(({ outputs }) => outputs.map(({ from }) => from))
  const onKeyDown = (event: KeyboardEvent) => {
    const columns = [...(place.current?.querySelectorAll(".neighbours-column, .node-centre") ?? [])].map((column) => [
      ...column.querySelectorAll<HTMLElement>("a")
    ])
    const at = columns.findIndex((column) => column.some((one) => one === document.activeElement))
    const column = columns[at]
    const row = column?.findIndex((one) => one === document.activeElement) ?? -1
    const next = {
      ArrowUp: column?.[row - 1],
      ArrowDown: column?.[row + 1],
      ArrowLeft: columns[at - 1]?.[0],
      ArrowRight: columns[at + 1]?.[0]
    }
    if (column === undefined || !Object.hasOwn(next, event.key)) return
    event.preventDefault()
    new Map(Object.entries(next)).get(event.key)?.focus()
  }
  return (
    <div className="neighbours" ref={place} onKeyDown={onKeyDown} role="presentation">
      <Column
        title={words.takesFrom(takes.length)}
        further={needed > takes.length ? words.furtherUp(needed - takes.length) : undefined}
        nothing={words.takesNothing}
        capsules={shown(takes)}
        outputsOf={(id) => outputsTo(centre.id, id)}
        all={takes.length}
        onAll={() => setWhole(true)}
      />
      <Links count={shown(takes).length} rows={rows} way="in" />
      <div className="node-centre">
        <span className="node-name">
          <strong>{centre.name}</strong>
          <span className="tag">{centre.environment}</span>
        </span>
        <Standing status={centre.status} />
        <p className="muted">{words.changeReaches(reached)}</p>
        <LinkButton small to="/w/$workspace/capsules/$capsuleId" params={{ workspace: handle, capsuleId: centre.id }}>
          {words.open}
        </LinkButton>
      </div>
      <Links count={shown(gives).length} rows={rows} way="out" />
      <Column
        title={words.givesTo(gives.length)}
        further={reached > gives.length ? words.further(reached - gives.length) : undefined}
        nothing={words.givesNothing}
        capsules={shown(gives)}
        outputsOf={(id) => outputsTo(id, centre.id)}
        all={gives.length}
        onAll={() => setWhole(true)}
      />
    </div>
  )
}
