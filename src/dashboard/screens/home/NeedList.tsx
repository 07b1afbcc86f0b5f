import { needGroups } from "../../../../schema/records/NeedOrder.ts"
import type { Need } from "../../api/Types.ts"
import { useWords } from "../../words/Words.ts"
import { NeedEntry } from "./NeedEntry.tsx"
import { needWords } from "./NeedWords.ts"

interface NeedListProps {
  /** Worst first, for the pages read so far. */
  readonly needs: ReadonlyArray<Need>
  /** Counted across all pages. */
  readonly counts: Readonly<Record<Need["group"], number>>
}

export const NeedList = ({ counts, needs }: NeedListProps) => {
  const words = useWords(needWords)
  const replaces = needs.some(({ kind }) => kind === "update_open" || kind === "update_held")
  return (
    <div>
      {needGroups.map((group) => {
        const own = needs.filter((need) => need.group === group)
        return own.length === 0 ? null : (
          <section key={group} className="need-group" aria-label={words.groups[group]}>
            <h3>
              {words.groups[group]} <span>{counts[group]}</span>
            </h3>
            <ul className="attention">
              {own.map((need) => (
                <NeedEntry key={need.key} need={need} replaces={replaces} />
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}
