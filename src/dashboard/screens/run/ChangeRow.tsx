import { useState } from "react"
import type { ResourceChange } from "../../api/Types.ts"
import { Icon } from "../../ui/Icon.tsx"
import { VerbIcon } from "../../ui/VerbIcon.tsx"
import { visibleText } from "../../value-difference/VisibleText.ts"
import { useWords } from "../../words/Words.ts"
import { AttributeList } from "./AttributeList.tsx"
import { type ChangeKind, changeKind, splitAddress } from "./PlanDiff.ts"
import { RowWhy } from "./Why.tsx"
import { planWords } from "./PlanWords.ts"

export const ChangeSign = ({ kind }: { readonly kind: ChangeKind }) => (
  <span className={`sign sign-${kind}`} aria-hidden="true">
    <VerbIcon verb={kind} />
  </span>
)

/** Why the resource changes, what an import adopts, or where a moved resource was. */
const reasonOf = (change: ResourceChange, words: (typeof planWords)["en"]): string | undefined => {
  if (change.importing !== undefined) return words.imports(change.importing.id)
  if (change.previousAddress !== undefined) return words.movedFrom(visibleText(change.previousAddress))
  if (change.reason === undefined) return undefined
  const known: Readonly<Record<string, string>> = words.reasons
  return Object.hasOwn(known, change.reason) ? known[change.reason] : change.reason
}

interface ChangeRowProps {
  readonly change: ResourceChange
  readonly startsOpen: boolean
}

/** One resource: its address, why it changes and, once unfolded, each attribute before and after. */
export const ChangeRow = ({ change, startsOpen }: ChangeRowProps) => {
  const words = useWords(planWords)
  const [open, setOpen] = useState(startsOpen)
  const kind = changeKind(change)
  const [place, name] = splitAddress(change)
  const reason = reasonOf(change, words)
  const count = change.changedAttributes.length
  const hasMore = count > 0 || change.importing?.id !== undefined || change.previousAddress !== undefined
  return (
    <details className="change" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChangeSign kind={kind} />
        <span className="visually-hidden">{words.kinds[kind]}</span>
        <span className="change-address">
          {place === "" ? null : <span className="change-place">{place}</span>}
          {name}
        </span>
        {reason === undefined ? null : <span className="change-reason">{reason}</span>}
        <span className="change-count">{count === 0 ? "" : words.attributes(count)}</span>
        <Icon name="chevron" className="change-chevron" />
      </summary>
      {open ? <RowWhy address={change.address} /> : null}
      {open && hasMore ? <AttributeList change={change} /> : null}
    </details>
  )
}
