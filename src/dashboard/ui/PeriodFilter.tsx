import { beginOfDay, dayOf } from "../words/Days.ts"
import { useWords } from "../words/Words.ts"

const words = { en: { from: "From", until: "Until" }, ja: { from: "開始日", until: "終了日" } }

interface PeriodFilterProps {
  /** Points in time rather than days, because a day begins at different times in different time zones. */
  readonly from: string | undefined
  readonly until: string | undefined
  readonly onChange: (period: { readonly from?: string | undefined } | { readonly until?: string | undefined }) => void
}

/** Fields for the first and the last day shown in a list, in the person's time zone. */
export const PeriodFilter = ({ from, onChange, until }: PeriodFilterProps) => {
  const text = useWords(words)
  return (
    <span className="filter-pair">
      <label className={from === undefined ? "filter" : "filter filter-on"}>
        <span>{text.from}</span>
        <input
          type="date"
          value={from === undefined ? "" : dayOf(from)}
          onChange={(event) => onChange({ from: beginOfDay(event.target.value) })}
        />
      </label>
      <label className={until === undefined ? "filter" : "filter filter-on"}>
        <span>{text.until}</span>
        <input
          type="date"
          value={until === undefined ? "" : dayOf(new Date(Date.parse(until) - 1).toISOString())}
          onChange={(event) => onChange({ until: beginOfDay(event.target.value, 1) })}
        />
      </label>
    </span>
  )
}
