import { useState } from "react"
import type { ChangedAttribute, ResourceChange } from "../../api/Types.ts"
import { Icon } from "../../ui/Icon.tsx"
import { useWords } from "../../words/Words.ts"
import { type ChangeKind, changeKind, type ShownValue, sidesOf, splitAddress } from "./PlanDiff.ts"
import { planWords } from "./PlanWords.ts"

const signs: Readonly<Record<ChangeKind, string>> = {
  destroy: "−",
  replace: "±",
  forget: "×",
  update: "~",
  create: "+",
  import: "↓",
  read: "○",
  none: "·"
}

export const ChangeSign = ({ kind }: { readonly kind: ChangeKind }) => (
  <span className={`sign sign-${kind}`} aria-hidden="true">
    {signs[kind]}
  </span>
)

const Value = ({ value, side }: { readonly value: ShownValue; readonly side: "before" | "after" }) => {
  const words = useWords(planWords)
  if (value.kind === "text") return <pre className={`value value-${side}`}>{value.text}</pre>
  const text = { absent: words.absent, null: "null", hidden: words.hidden, later: words.later }[value.kind]
  return <span className={`value value-word value-${side}`}>{text}</span>
}

const Attributes = ({
  attributes,
  kind
}: {
  readonly attributes: ReadonlyArray<ChangedAttribute>
  readonly kind: ChangeKind
}) => {
  const words = useWords(planWords)
  const both = kind === "update" || kind === "replace"
  return (
    <table className="attributes">
      <thead className="visually-hidden">
        <tr>
          <th>{words.attribute}</th>
          {kind === "create" ? null : <th>{words.before}</th>}
          {kind === "destroy" ? null : <th>{words.after}</th>}
        </tr>
      </thead>
      <tbody>
        {attributes.map((attribute) => {
          const { before, after } = sidesOf(attribute)
          return (
            <tr key={attribute.name}>
              <th scope="row">{attribute.name}</th>
              {kind === "create" ? null : (
                <td>
                  <Value value={before} side="before" />
                </td>
              )}
              {kind === "destroy" ? null : (
                <td>
                  {both ? (
                    <span className="arrow" aria-hidden="true">
                      →
                    </span>
                  ) : null}
                  <Value value={after} side="after" />
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const isReason = (reason: string, reasons: Readonly<Record<string, string>>): string | undefined =>
  Object.hasOwn(reasons, reason) ? reasons[reason] : undefined

interface ChangeRowProps {
  readonly change: ResourceChange
  readonly startsOpen: boolean
}

/** One resource: its address, why it changes, and behind the fold each attribute before and after. */
export const ChangeRow = ({ change, startsOpen }: ChangeRowProps) => {
  const words = useWords(planWords)
  const [open, setOpen] = useState(startsOpen)
  const kind = changeKind(change)
  const [place, name] = splitAddress(change)
  const reason = change.reason === undefined ? undefined : (isReason(change.reason, words.reasons) ?? change.reason)
  const count = change.changedAttributes.length
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
      {open && count > 0 ? <Attributes attributes={change.changedAttributes} kind={kind} /> : null}
    </details>
  )
}
