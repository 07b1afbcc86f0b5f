import type { CapsuleDriftChecks, WorkspaceDriftChecks } from "../../../schema/records/DriftChecks.ts"
import type { Capsule } from "../api/Types.ts"
import { SelectField } from "../ui/Field.tsx"
import { useWords } from "../words/Words.ts"
import { formWords } from "./Words.ts"

type Choice = Pick<Capsule["driftChecks"], "mode" | "hours">

/** The intervals that the form offers. A different interval may have been set through the API. */
const intervals: ReadonlyArray<number> = [1, 6, 24, 168]

interface OfCapsule {
  /** Set if the form is for a Capsule, which may use the interval of its Workspace. */
  readonly mayInherit: true
  readonly onChoose: (choice: CapsuleDriftChecks) => void
}

interface OfWorkspace {
  readonly mayInherit: false
  readonly onChoose: (choice: WorkspaceDriftChecks) => void
}

type DriftCheckFieldProps = (OfCapsule | OfWorkspace) & {
  readonly choice: Choice
  readonly disabled: boolean
  readonly busy: boolean
}

export const DriftCheckField = (props: DriftCheckFieldProps) => {
  const { busy, choice, disabled, mayInherit } = props
  const words = useWords(formWords).drift
  const own = choice.hours
  const offered = own === undefined || intervals.includes(own) ? intervals : [...intervals, own].sort((a, b) => a - b)
  return (
    <SelectField
      label={words.label}
      helper={words.help}
      disabled={disabled}
      busy={busy}
      value={own === undefined ? choice.mode : String(own)}
      onChange={({ target: { value } }) => {
        if (value === "off") props.onChoose({ mode: "off" })
        else if (value !== "inherit") props.onChoose({ mode: "every", hours: Number(value) })
        else if (props.mayInherit) props.onChoose({ mode: "inherit" })
      }}
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
