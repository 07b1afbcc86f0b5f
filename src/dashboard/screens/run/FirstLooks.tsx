import { useMemo, useState } from "react"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import type { OutputChange, ResourceChange } from "../../api/Types.ts"
import { Button } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { useWords } from "../../words/Words.ts"
import { ChangeSign } from "./ChangeRow.tsx"
import { firstLooks } from "./LookFirst.ts"
import { planWords } from "./PlanWords.ts"

/** Number of changes that are initially listed. */
const looksAtOnce = 6

/** The changes that a reviewer should read first. Selecting a change opens its row. */
export const FirstLooks = ({
  changes,
  outputs,
  onChoose
}: {
  readonly changes: ReadonlyArray<ResourceChange>
  readonly outputs: ReadonlyArray<OutputChange>
  readonly onChoose: (name: string) => void
}) => {
  const words = useWords(planWords)
  const [all, setAll] = useState(false)
  const looks = useMemo(() => firstLooks(changes, outputs), [changes, outputs])
  if (looks.length === 0) return null
  const shown = all ? looks : looks.slice(0, looksAtOnce)
  return (
    <section className="first-looks" aria-labelledby="first-looks" data-testid="first-looks">
      <h3 id="first-looks">
        {words.lookFirst}
        <span className="count">{looks.length}</span>
      </h3>
      <ul>
        {shown.map((look, index) => (
          // Positions are stable keys, because a plan's list never changes its order.
          <li key={index}>
            {look.reason === "output" ? (
              <>
                <Icon name="warning" />
                <code>{look.name}</code>
                <span>{words.lookOutput}</span>
              </>
            ) : (
              <>
                <ChangeSign kind={look.kind} />
                <button type="button" className="first-look" onClick={() => onChoose(look.name)}>
                  <code>{visibleText(look.name)}</code>
                </button>
                <span>
                  {look.reason === "removal"
                    ? words.kinds[look.kind]
                    : look.reason === "wider"
                      ? words.lookWider(look.attribute, visibleText(look.found))
                      : words.lookPublic(visibleText(look.found))}
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
      {shown.length === looks.length ? null : (
        <Button small tone="quiet" onClick={() => setAll(true)}>
          {words.lookMore(looks.length - shown.length)}
        </Button>
      )}
    </section>
  )
}
