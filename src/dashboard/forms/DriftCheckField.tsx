import type { Capsule } from "../api/Types.ts"
import { SelectField } from "../ui/Field.tsx"
import { useWords } from "../words/Words.ts"
import { formWords } from "./Words.ts"

type Choice = Pick<Capsule["driftChecks"], "mode" | "hours">

/** What is offered; an interval that was set over the API is offered as well. */
const intervals: ReadonlyArray<number> = [1, 6, 24, 168]

interface DriftCheckFieldProps {
  readonly choice: Choice
  /** A Capsule may leave the choice to its Workspace. */
  readonly mayInherit: boolean
  readonly disabled: boolean
  readonly onChoose: (choice: Choice) => void
}

export const DriftCheckField = ({ choice, disabled, mayInherit, onChoose }: DriftCheckFieldProps) => {
  const words = useWords(formWords).drift
  const own = choice.hours
  const offered = own === undefined || intervals.includes(own) ? intervals : [...intervals, own].sort((a, b) => a - b)
  return (
    <SelectField
      label={words.label}
      helper={words.help}
      disabled={disabled}
      value={own === undefined ? choice.mode : String(own)}
      onChange={({ target: { value } }) =>
        onChoose(value === "inherit" || value === "off" ? { mode: value } : { mode: "every", hours: Number(value) })
      }
    >
      {mayInherit ? <option value="inherit">{words.inherit}</option> : null}
      <option value="off">{words.off}</option>
      {offered.map((hours) => (
        <option key={hours} value={String(hours)}>
          {words.every(hours)}
        </option>
      ))}
    </SelectField>
  )
}
