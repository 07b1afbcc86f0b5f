import { useState } from "react"
import type { ResourceChange } from "../../api/Types.ts"
import { Icon } from "../../ui/Icon.tsx"
import { VerbIcon } from "../../ui/VerbIcon.tsx"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import { useWords } from "../../words/Words.ts"
import { AttributeList } from "./AttributeList.tsx"
import { type ChangeKind, changeKind, splitAddress } from "./PlanDiff.ts"
import { RowWhy } from "./Why.tsx"
import { planWords } from "./PlanWords.ts"

type PlanWords = (typeof planWords)["en"]

export const ChangeSign = ({ kind }: { readonly kind: ChangeKind }) => (
  <span className={`sign sign-${kind}`} aria-hidden="true">
    <VerbIcon verb={kind} />
  </span>
)

/**
 * The tool's reason for a change. Omits an unknown reason if the resource has moved, because the move is described
 * separately.
 */
const toolReason = ({ previousAddress, reason }: ResourceChange, words: PlanWords): string | undefined => {
  const known: Readonly<Record<string, string>> = words.reasons
  if (reason === undefined || Object.hasOwn(known, reason)) return known[reason ?? ""]
  return previousAddress === undefined ? reason : undefined
}

/** Special facts about a change: a deposed object, an import, a move, and the tool's reason. */
const reasonOf = (change: ResourceChange, words: PlanWords): string | undefined => {
  const { deposed, importing, previousAddress } = change
  const parts = [
    deposed === undefined ? undefined : words.deposed(visibleText(deposed)),
    importing === undefined ? undefined : words.imports(importing.id),
    previousAddress === undefined ? undefined : words.movedFrom(visibleText(previousAddress)),
    toolReason(change, words)
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(" · ")
}

interface ChangeRowProps {
  readonly change: ResourceChange
  /** True if the change was made outside svc and not by a plan. */
  readonly drift?: boolean
  readonly startsOpen: boolean
}

/** A resource: its address, the reason for its change and, if expanded, each attribute before and after. */
export const ChangeRow = ({ change, drift = false, startsOpen }: ChangeRowProps) => {
  const words = useWords(planWords)
  const [open, setOpen] = useState(startsOpen)
  const kind = changeKind(change)
  const [place, name] = splitAddress(change)
  const reason = reasonOf(change, words)
  const count = change.changedAttributes.length
  const isGone = drift && kind === "destroy"
  const hasMore = count > 0 || change.importing?.id !== undefined || change.previousAddress !== undefined
  return (
    <details className="change" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChangeSign kind={kind} />
        {drift ? (
          <strong className={`drift-word drift-word-${kind}`}>{words.driftKinds[kind]}</strong>
        ) : (
          <span className="visually-hidden">{words.kinds[kind]}</span>
        )}
        <span className="change-address">
          {place === "" ? null : <span className="change-place">{place}</span>}
          {name}
        </span>
        {reason === undefined ? null : <span className="change-reason">{reason}</span>}
        <span className="change-count">{count === 0 || isGone ? "" : words.attributes(count)}</span>
        <Icon name="chevron" className="change-chevron" />
      </summary>
      {open && change.deposed === undefined ? <RowWhy address={change.address} /> : null}
      {open && hasMore && !isGone ? <AttributeList change={change} drift={drift} /> : null}
    </details>
  )
}
