import type { PlanSummary } from "../api/Types.ts"
import { verbWords } from "../words/VerbWords.ts"
import { useWords } from "../words/Words.ts"
import { type Verb, VerbIcon } from "./VerbIcon.tsx"

const verbs: ReadonlyArray<readonly [Verb, keyof PlanSummary]> = [
  ["destroy", "destroy"],
  ["replace", "replace"],
  ["forget", "forget"],
  ["update", "change"],
  ["create", "add"],
  ["import", "import"]
]

export interface VerbCount {
  readonly verb: Verb
  readonly count: number
}

/** Returns the number of changes in a plan for each verb, dangerous verbs first. Omits zeroes. */
export const verbCountsOf = (summary: PlanSummary): ReadonlyArray<VerbCount> =>
  verbs.map(([verb, key]) => ({ verb, count: summary[key] })).filter(({ count }) => count > 0)

/**
 * The counts of a plan in a row. Each count is a sign and a number; the word is in the tooltip and available to assistive
 * technology.
 */
export const Sum = ({ summary }: { readonly summary: PlanSummary }) => {
  const words = useWords(verbWords)
  return (
    <span className="sum">
      {verbCountsOf(summary).map(({ verb, count }) => (
        <span key={verb} className={`sum-${verb}`} title={`${words[verb]} ${count}`}>
          <VerbIcon verb={verb} />
          <span className="visually-hidden">{words[verb]} </span>
          {count}
        </span>
      ))}
    </span>
  )
}
