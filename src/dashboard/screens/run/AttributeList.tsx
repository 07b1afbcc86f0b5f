import { type ReactNode, useState } from "react"
import type { ChangedAttribute, ResourceChange } from "../../api/Types.ts"
import { Button } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { structureOf } from "../../value-difference/JsonValue.ts"
import { useWords } from "../../words/Words.ts"
import { DifferenceView } from "./DifferenceView.tsx"
import {
  attributesOf,
  type ChangedSides,
  changeKind,
  changeName,
  inlineParts,
  inlineText,
  type Side,
  sidesOf
} from "./PlanDiff.ts"
import { planWords } from "./PlanWords.ts"

const rawText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2))

const CopySide = ({ label, of, value }: { readonly label: string; readonly of: string; readonly value: unknown }) => (
  <button type="button" className="difference-copy" onClick={() => void navigator.clipboard.writeText(rawText(value))}>
    <Icon name="copy" />
    {label}
    <span className="visually-hidden">: {of}</span>
  </button>
)

/** A value, or a part of a value, that the plan does not show. */
const Unshown = ({ kind }: { readonly kind: "hidden" | "later" }) => {
  const words = useWords(planWords)
  if (kind === "later") return <span className="value-chip value-later">{words.later}</span>
  return (
    <span className="value-chip">
      <Icon name="lock" />
      {words.hidden}
    </span>
  )
}

const InlineSide = ({ of, side }: { readonly of: "before" | "after"; readonly side: Side }) => {
  const words = useWords(planWords)
  if (side.kind === "value") {
    return (
      <span className={`value value-${of}`}>
        {inlineParts(side.value).map((part, index) =>
          part.kind === "text" ? part.text : <Unshown key={index} kind={part.kind} />
        )}
      </span>
    )
  }
  if (side.kind === "hidden" || side.kind === "later") return <Unshown kind={side.kind} />
  return <span className="value value-word">{side.kind === "null" ? "null" : words.absent}</span>
}

const isInline = (side: Side) => side.kind !== "value" || inlineText(side.value) !== undefined
const valueOf = (side: Side) => (side.kind === "value" ? side.value : undefined)

const linesOf = (value: unknown): number => {
  const structure = structureOf(value)
  return (structure === undefined ? rawText(value) : JSON.stringify(structure, null, 2)).split("\n").length
}

/** A value with at most this many lines is never folded. */
const shortWhole = 6

const WholeValue = ({ children, lines }: { readonly children: ReactNode; readonly lines: number }) => {
  const words = useWords(planWords)
  const [open, setOpen] = useState(false)
  if (lines <= shortWhole) return children
  return (
    <details className="value-whole" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.showValue(lines)}</summary>
      {open ? children : null}
    </details>
  )
}

/** An attribute before and after the change: on one line if both values are short, and as a diff otherwise. */
export const ValueChange = ({
  actions,
  attribute,
  drift = false,
  of
}: {
  /** True if the value was changed outside svc. */
  readonly drift?: boolean
  /** The actions of the change that contains the value. */
  readonly actions: ReadonlyArray<string>
  /** The address or name of the attribute's owner, because a page may show several attributes of the same name. */
  readonly of: string
  readonly attribute: ChangedSides & Pick<ChangedAttribute, "name">
}) => {
  const words = useWords(planWords)
  const { after, before } = sidesOf(attribute, actions)
  if (isInline(before) && isInline(after)) {
    return (
      <span className="value-sides">
        {before.kind === "absent" ? null : (
          <>
            {drift ? <span className="side-word">{words.was}</span> : null}
            <InlineSide of="before" side={before} />
            {after.kind === "absent" ? null : (
              <span className="arrow" aria-hidden="true">
                →
              </span>
            )}
          </>
        )}
        {drift && after.kind !== "absent" ? <span className="side-word">{words.is}</span> : null}
        {after.kind === "absent" ? null : <InlineSide of="after" side={after} />}
        {before.kind === "absent" && after.kind === "absent" ? <InlineSide of="after" side={after} /> : null}
        {after.kind === "hidden" ? (
          <span className="change-reason">
            {attribute.beforeSensitive === undefined ||
            attribute.afterSensitive === undefined ||
            attribute.beforeSensitive === attribute.afterSensitive
              ? words.hiddenChanges
              : attribute.afterSensitive
                ? words.becomesSensitive
                : words.noLongerSensitive}
          </span>
        ) : null}
      </span>
    )
  }
  // A value that will be known later is not shown as deleted.
  const isKept = after.kind === "later"
  const whole = before.kind === "absent" ? after : after.kind === "absent" ? before : undefined
  const long = (
    <div className="value-long">
      <DifferenceView
        of={of}
        name={attribute.name}
        before={valueOf(before)}
        after={valueOf(isKept ? before : after)}
        unchanged={isKept}
      />
      <div className="difference-tools">
        {isKept ? (
          <>
            <span className="arrow" aria-hidden="true">
              →
            </span>
            <InlineSide of="after" side={after} />
          </>
        ) : null}
        {before.kind === "value" ? (
          <CopySide label={words.copyBefore} of={`${of} ${attribute.name}`} value={attribute.before} />
        ) : null}
        {after.kind === "value" ? (
          <CopySide label={words.copyAfter} of={`${of} ${attribute.name}`} value={after.value} />
        ) : null}
      </div>
    </div>
  )
  // An attribute of a created or destroyed resource has no difference. A long value is shown on request.
  return whole?.kind === "value" ? <WholeValue lines={linesOf(whole.value)}>{long}</WholeValue> : long
}

/** If a created or destroyed resource has more attributes than this, only some of them are initially shown. */
const manyAttributes = 12
const fewAttributes = 8

/**
 * The attributes of a change. Attributes that force a replacement come first, and attributes that are known only after the apply
 * come last.
 */
export const AttributeList = ({
  change,
  drift = false
}: {
  readonly change: ResourceChange
  readonly drift?: boolean
}) => {
  const words = useWords(planWords)
  const { later, shown: known } = attributesOf(change)
  const [isWhole, setWhole] = useState(false)
  const kind = changeKind(change)
  const isFolded = !isWhole && (kind === "create" || kind === "destroy") && known.length > manyAttributes
  const shown = isFolded ? known.slice(0, fewAttributes) : known
  return (
    <>
      <dl className="attributes">
        {change.importing?.id === undefined ? null : (
          <div>
            <dt>{words.importId}</dt>
            <dd>
              <span className="value value-after">{change.importing.id}</span>
            </dd>
          </div>
        )}
        {change.previousAddress === undefined ? null : (
          <div>
            <dt>{words.address}</dt>
            <dd>
              <ValueChange
                of={change.address}
                actions={change.actions}
                attribute={{ name: "address", before: change.previousAddress, after: change.address }}
              />
            </dd>
          </div>
        )}
        {shown.map((attribute) => (
          <div key={attribute.name}>
            <dt>
              {attribute.name}
              {attribute.forcesReplacement === true ? <span className="value-force">± {words.forces}</span> : null}
            </dt>
            <dd>
              <ValueChange of={changeName(change)} actions={change.actions} attribute={attribute} drift={drift} />
            </dd>
          </div>
        ))}
        {later.length === 0 ? null : (
          <div>
            <dt>{later.join(", ")}</dt>
            <dd>
              <span className="value-chip value-later">{words.later}</span>
            </dd>
          </div>
        )}
      </dl>
      {isFolded ? (
        <div className="attributes-more">
          <Button small tone="quiet" onClick={() => setWhole(true)}>
            {words.showAttributes(known.length - shown.length)}
          </Button>
        </div>
      ) : null}
    </>
  )
}
