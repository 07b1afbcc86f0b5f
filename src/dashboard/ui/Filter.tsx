import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"

interface FilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly options: ReadonlyArray<readonly [string, string]>
  readonly onChange: (value: string | undefined) => void
}

export const Filter = ({ label, value, options, onChange }: FilterProps) => {
  const words = useWords(vocabulary)
  return (
    <label className={value === undefined ? "filter" : "filter filter-on"}>
      <span>{label}</span>
      <select
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      >
        <option value="">{words.all}</option>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
