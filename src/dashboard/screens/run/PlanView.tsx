import { startTransition, useEffect, useEffectEvent, useRef, useState } from "react"
import type { OutputChange, PlanSummary, ResourceChange } from "../../api/Types.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { type VerbCount, verbCountsOf } from "../../ui/Sum.tsx"
import { VerbIcon } from "../../ui/VerbIcon.tsx"
import { useWords } from "../../words/Words.ts"
import { ValueChange } from "./AttributeList.tsx"
import { ChangeRow, ChangeSign } from "./ChangeRow.tsx"
import { type ChangeKind, changeName, diffOf, isLoss, isShownOutput, movesOf } from "./PlanDiff.ts"
import { planWords } from "./PlanWords.ts"

/** The counts of a plan, dangerous ones first. Zeroes are omitted. */
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
/** More rows are added when the person scrolls near the end. */
const drawnAtOnce = 30

/** Loads more rows on a click, or automatically when it becomes visible. */
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
  open
}: {
  readonly drift: Drift | undefined
  readonly kind: ChangeKind
  readonly changes: ReadonlyArray<ResourceChange>
  readonly open: boolean
}) => {
  const words = useWords(planWords)
  const [limit, setLimit] = useState(drawnAtOnce)
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
      {changes.slice(0, limit).map((change) => (
        <ChangeRow
          key={`${changeName(change)} ${change.actions.join()}`}
          change={change}
          drift={drift !== undefined}
          startsOpen={open}
        />
      ))}
      {changes.length <= limit ? null : (
        <More count={Math.min(drawnAtOnce, changes.length - limit)} onReach={() => setLimit(limit + drawnAtOnce)} />
      )}
    </div>
  )
}

/** What was changed outside svc: found by a check, or to be accepted by a plan. */
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
  const [all, setAll] = useState<boolean | undefined>(undefined)
  const diff = diffOf(changes, search, drift !== undefined)
  const nothing = diffOf(changes, "", drift !== undefined).groups.length === 0 && !outputs.some(isShownOutput)
  const open = all ?? changes.length <= opensUpTo
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
      {nothing && diff.noise.length === 0 ? (
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
          />
        ))}
        {search === "" ? <Outputs changes={outputs} /> : null}
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
        {search !== "" ? <output className="plan-found">{words.matchingChanges(diff.total)}</output> : null}
      </div>
    </Panel>
  )
}
