import { lazy, startTransition, Suspense, useEffect, useEffectEvent, useMemo, useRef, useState } from "react"
import type { OutputChange, PlanSummary, ResourceChange } from "../../api/Types.ts"
import { whenReachable } from "../../api/Reachability.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { type VerbCount, verbCountsOf } from "../../ui/Sum.tsx"
import { VerbIcon } from "../../ui/VerbIcon.tsx"
import { useWords } from "../../words/Words.ts"
import { ValueChange } from "./AttributeList.tsx"
import { ChangeRow, ChangeSign } from "./ChangeRow.tsx"
import { type ChangeSeries, isSeries, rowKey, rowsOf } from "./ChangeSeries.ts"
import {
  type ChangeKind,
  changeKind,
  changeName,
  diffOf,
  isLoss,
  isShownOutput,
  movesOf,
  riskOrder,
  splitAddress
} from "./PlanDiff.ts"
import { planWords } from "./PlanWords.ts"

/** The counts of a plan, with dangerous actions first. Zeroes are omitted. */
export const Counts = ({ summary, moves = 0 }: { readonly summary: PlanSummary; readonly moves?: number }) => {
  const words = useWords(planWords)
  const shown: ReadonlyArray<VerbCount> = [
    ...verbCountsOf(summary),
    ...(moves === 0 ? [] : [{ verb: "move" as const, count: moves }])
  ]
  if (shown.length === 0) return <span className="counts counts-none">{words.noChanges}</span>
  return (
    <ul className="counts">
      {shown.map(({ count, verb }) => (
        <li key={verb} className={`counts-${verb}`}>
          <VerbIcon verb={verb} />
          <strong>{count}</strong> {words.kinds[verb]}
        </li>
      ))}
    </ul>
  )
}

const Outputs = ({ changes }: { readonly changes: ReadonlyArray<OutputChange> }) => {
  const words = useWords(planWords)
  const shown = changes.filter(isShownOutput)
  if (shown.length === 0) return null
  return (
    <div className="change-group">
      <h3>{words.outputs}</h3>
      <ul className="output-changes">
        {shown.map((change) => (
          <li key={change.name}>
            <code>{change.name}</code>
            <ValueChange of={words.outputs} actions={change.actions} attribute={change} />
            {change.publication === undefined ? null : (
              <p className="output-reason">
                {words.publication[change.publication.change](words.publicationReasons[change.publication.reason])}
              </p>
            )}
            {change.reason === undefined ? null : (
              <p className="output-reason">{words.holdsSecret((change.origins ?? []).join(", "))}</p>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Number of resources that are initially expanded. Removals are expanded first. */
const opensUpTo = 24
const lossesOpenUpTo = 12
/** Renders more rows when the person scrolls near the end. */
const drawnAtOnce = 30

/** Button that loads more rows when it is clicked or becomes visible. */
const More = ({ count, onReach }: { readonly count: number; readonly onReach: () => void }) => {
  const place = useRef<HTMLDivElement>(null)
  const reach = useEffectEvent(onReach)
  useEffect(() => {
    const seen = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) startTransition(reach)
      },
      { rootMargin: "400px" }
    )
    if (place.current !== null) seen.observe(place.current)
    return () => seen.disconnect()
  }, [])
  return (
    <div ref={place} className="change-more">
      <Button small onClick={onReach}>{`+ ${count}`}</Button>
    </div>
  )
}

const Group = ({
  kind,
  changes,
  drift,
  open,
  opensSeries
}: {
  readonly drift: Drift | undefined
  readonly kind: ChangeKind
  readonly changes: ReadonlyArray<ResourceChange>
  readonly open: boolean
  readonly opensSeries: boolean
}) => {
  const words = useWords(planWords)
  const [limit, setLimit] = useState(drawnAtOnce)
  const rows = useMemo(() => rowsOf(changes), [changes])
  return (
    <div className={`change-group change-group-${kind}`}>
      <h3>
        <ChangeSign kind={kind} />
        <span className="change-group-name">{(drift === undefined ? words.kinds : words.driftKinds)[kind]}</span>
        <span className="count">{changes.length}</span>
        {kind === "create" || kind === "none" || (drift !== undefined && kind !== "destroy") ? null : (
          <span className="change-about">
            {drift === undefined ? words.about[kind] : drift === "check" ? words.driftGone : words.acceptGone}
          </span>
        )}
      </h3>
      {rows
        .slice(0, limit)
        .map((row) =>
          isSeries(row) ? (
            <SeriesRow key={rowKey(row)} series={row} drift={drift !== undefined} startsOpen={opensSeries} />
          ) : (
            <ChangeRow key={rowKey(row)} change={row} drift={drift !== undefined} startsOpen={open} />
          )
        )}
      {rows.length <= limit ? null : (
        <More count={Math.min(drawnAtOnce, rows.length - limit)} onReach={() => setLimit(limit + drawnAtOnce)} />
      )}
    </div>
  )
}

/** A row for resources that differ only in one index. It expands to a row for each resource. */
const SeriesRow = ({
  drift,
  series,
  startsOpen
}: {
  readonly drift: boolean
  readonly series: ChangeSeries
  readonly startsOpen: boolean
}) => {
  const words = useWords(planWords)
  const [open, setOpen] = useState(startsOpen)
  const [limit, setLimit] = useState(drawnAtOnce)
  const { address, changes } = series
  const [first] = changes
  if (first === undefined) return null
  const kind = changeKind(first)
  const [place, name] = splitAddress({ address, type: first.type })
  return (
    <details className="change change-series" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChangeSign kind={kind} />
        <span className="visually-hidden">{(drift ? words.driftKinds : words.kinds)[kind]}</span>
        <span className="change-address">
          {place === "" ? null : <span className="change-place">{place}</span>}
          {name}
        </span>
        <span className="change-reason">{words.resources(changes.length)}</span>
        <span className="change-count">{words.attributes(first.changedAttributes.length)}</span>
        <Icon name="chevron" className="change-chevron" />
      </summary>
      {open ? (
        <div className="change-members">
          {changes.slice(0, limit).map((change) => (
            <ChangeRow key={rowKey(change)} change={change} drift={drift} startsOpen={startsOpen} />
          ))}
          {changes.length <= limit ? null : (
            <More count={Math.min(drawnAtOnce, changes.length - limit)} onReach={() => setLimit(limit + drawnAtOnce)} />
          )}
        </div>
      ) : null}
    </details>
  )
}

// Renders the changes first, because finding the most important ones is slower.
const FirstLooks = lazy(whenReachable(async () => ({ default: (await import("./FirstLooks.tsx")).FirstLooks })))

interface Chosen {
  readonly kind: ChangeKind | undefined
  readonly type: string | undefined
}

/** Filters the changes by a verb or a type of resource. */
const Filters = ({
  changes,
  chosen,
  drift,
  onChoose
}: {
  readonly changes: ReadonlyArray<ResourceChange>
  readonly chosen: Chosen
  readonly drift: Drift | undefined
  readonly onChoose: (chosen: Chosen) => void
}) => {
  const words = useWords(planWords)
  const counts = new Map<ChangeKind, number>()
  for (const change of changes) counts.set(changeKind(change), (counts.get(changeKind(change)) ?? 0) + 1)
  const kinds = riskOrder.filter((kind) => kind !== "none" && counts.has(kind))
  const types = [...new Set(changes.map(({ type }) => type))].toSorted()
  if (kinds.length < 2 && types.length < 2) return null
  return (
    <div className="plan-filters">
      {kinds.length < 2
        ? null
        : kinds.map((kind) => (
            <button
              key={kind}
              type="button"
              className="run-chip"
              aria-pressed={chosen.kind === kind}
              onClick={() => onChoose({ ...chosen, kind: chosen.kind === kind ? undefined : kind })}
            >
              <ChangeSign kind={kind} />
              {(drift === undefined ? words.kinds : words.driftKinds)[kind]} <b>{counts.get(kind)}</b>
            </button>
          ))}
      {types.length < 2 ? null : (
        <Filter
          label={words.type}
          value={chosen.type}
          options={types.map((type) => [type, type])}
          onChange={(type) => onChoose({ ...chosen, type })}
        />
      )}
    </div>
  )
}

const everything: Chosen = { kind: undefined, type: undefined }

/** Changes made outside svc: either found by a check, or accepted by a plan. */
type Drift = "check" | "accept"

interface PlanViewProps {
  readonly changes: ReadonlyArray<ResourceChange>
  readonly outputs: ReadonlyArray<OutputChange>
  readonly summary: PlanSummary | undefined
  readonly drift?: Drift | undefined
}

export const PlanView = ({ changes, outputs, summary, drift }: PlanViewProps) => {
  const words = useWords(planWords)
  const [search, setSearch] = useState("")
  const [chosen, setChosen] = useState(everything)
  const [all, setAll] = useState<boolean | undefined>(undefined)
  const isDrift = drift !== undefined
  const diff = useMemo(() => {
    const { kind, type } = chosen
    const narrowed = changes.filter(
      (change) => (kind === undefined || changeKind(change) === kind) && (type === undefined || change.type === type)
    )
    return diffOf(narrowed, search, isDrift)
  }, [changes, chosen, isDrift, search])
  const isNarrowed = search !== "" || chosen.kind !== undefined || chosen.type !== undefined
  const nothing = !isNarrowed && diff.groups.length === 0 && diff.noise.length === 0 && !outputs.some(isShownOutput)
  const open = all ?? diff.total <= opensUpTo
  return (
    <Panel
      flush
      title={drift === undefined ? words.changes : drift === "check" ? words.changesDrift : words.changesAccepted}
      beside={summary === undefined ? null : <Counts summary={summary} moves={movesOf(changes)} />}
      actions={
        changes.length < 2 ? null : (
          <>
            <input
              type="search"
              className="input input-small plan-search"
              data-page-search
              aria-label={words.searchChanges}
              placeholder={words.searchChanges}
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
            <Button small onClick={() => setAll(!open)}>
              {open ? words.collapseAll : words.expandAll}
            </Button>
          </>
        )
      }
    >
      {isDrift ? null : (
        <Suspense fallback={null}>
          <FirstLooks
            changes={changes}
            outputs={outputs}
            onChoose={(name) => {
              setChosen(everything)
              setSearch(name)
            }}
          />
        </Suspense>
      )}
      <Filters changes={changes} chosen={chosen} drift={drift} onChoose={setChosen} />
      {nothing ? (
        <Empty icon="check" title={words.noChanges}>
          <p>{drift === undefined ? words.noChangesText : words.noDriftText}</p>
        </Empty>
      ) : null}
      <div key={String(open)} className="changes">
        {diff.groups.map((group) => (
          <Group
            key={group.kind}
            drift={drift}
            kind={group.kind}
            changes={group.changes}
            open={open || (all === undefined && isLoss(group.kind) && group.changes.length <= lossesOpenUpTo)}
            opensSeries={all === true}
          />
        ))}
        {isNarrowed ? null : <Outputs changes={outputs} />}
        {diff.noise.length === 0 ? null : (
          <details className="noise">
            <summary>
              <Icon name="chevron" className="change-chevron" />
              <span>{words.noise(diff.noise.length)}</span>
              <span className="noise-about">{words.noiseAbout}</span>
            </summary>
            {diff.noise.map((change) => (
              <ChangeRow key={changeName(change)} change={change} drift={drift !== undefined} startsOpen={false} />
            ))}
          </details>
        )}
        {isNarrowed ? <output className="plan-found">{words.matchingChanges(diff.total)}</output> : null}
      </div>
    </Panel>
  )
}
