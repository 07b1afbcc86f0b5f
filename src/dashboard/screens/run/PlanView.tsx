import { useState } from "react"
import type { OutputChange, PlanSummary, ResourceChange } from "../../api/Types.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { ChangeRow, ChangeSign } from "./ChangeRow.tsx"
import { type ChangeKind, diffOf, isLoss, sidesOf, isShownOutput } from "./PlanDiff.ts"
import { planWords } from "./PlanWords.ts"

const order: ReadonlyArray<readonly [ChangeKind, keyof PlanSummary]> = [
  ["destroy", "destroy"],
  ["replace", "replace"],
  ["update", "change"],
  ["create", "add"],
  ["import", "import"],
  ["forget", "forget"]
]

/** The counts that a reader remembers, dangerous ones first. Zeroes are left out. */
export const Counts = ({ summary }: { readonly summary: PlanSummary }) => {
  const words = useWords(planWords)
  const shown = order.filter(([, key]) => summary[key] > 0)
  if (shown.length === 0) return <span className="counts counts-none">{words.noChanges}</span>
  return (
    <ul className="counts">
      {shown.map(([kind, key]) => (
        <li key={kind} className={`counts-${kind}`}>
          <strong>{summary[key]}</strong> {words.kinds[kind]}
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
        {shown.map((change) => {
          const { before, after } = sidesOf(change)
          const text = (side: typeof before) =>
            side.kind === "text"
              ? side.text
              : side.kind === "absent"
                ? ""
                : side.kind === "null"
                  ? "null"
                  : words[side.kind]
          return (
            <li key={change.name}>
              <code>{change.name}</code>
              {text(before) === "" ? null : <span className="value value-before">{text(before)}</span>}
              <span className="arrow" aria-hidden="true">
                →
              </span>
              <span className="value value-after">{text(after) === "" ? words.absent : text(after)}</span>
              {change.reason === undefined ? null : (
                <p className="output-reason">{words.holdsSecret((change.origins ?? []).join(", "))}</p>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** So many resources are open by default; others are folded. What removes something opens sooner. */
const opensUpTo = 6
const lossesOpenUpTo = 12
const drawnAtOnce = 200

const Group = ({
  kind,
  changes,
  open
}: {
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
        {words.kinds[kind]}
        <span className="count">{changes.length}</span>
      </h3>
      {changes.slice(0, limit).map((change) => (
        <ChangeRow key={`${change.address} ${change.actions.join()}`} change={change} startsOpen={open} />
      ))}
      {changes.length <= limit ? null : (
        <Button small onClick={() => setLimit(limit + drawnAtOnce)}>
          {`+ ${Math.min(drawnAtOnce, changes.length - limit)}`}
        </Button>
      )}
    </div>
  )
}

interface PlanViewProps {
  readonly changes: ReadonlyArray<ResourceChange>
  readonly outputs: ReadonlyArray<OutputChange>
  readonly summary: PlanSummary | undefined
  readonly drift: boolean
}

export const PlanView = ({ changes, outputs, summary, drift }: PlanViewProps) => {
  const words = useWords(planWords)
  const [search, setSearch] = useState("")
  const [all, setAll] = useState<boolean | undefined>(undefined)
  const diff = diffOf(changes, search)
  const nothing = diffOf(changes).groups.length === 0 && !outputs.some(isShownOutput)
  const open = all ?? changes.length <= opensUpTo
  return (
    <Panel
      flush
      title={drift ? words.changesDrift : words.changes}
      beside={summary === undefined ? null : <Counts summary={summary} />}
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
          <p>{drift ? words.noDriftText : words.noChangesText}</p>
        </Empty>
      ) : null}
      <div key={String(open)} className="changes">
        {diff.groups.map((group) => (
          <Group
            key={group.kind}
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
              <ChangeRow key={change.address} change={change} startsOpen={false} />
            ))}
          </details>
        )}
        {search !== "" ? <output className="plan-found">{words.matchingChanges(diff.total)}</output> : null}
      </div>
    </Panel>
  )
}
