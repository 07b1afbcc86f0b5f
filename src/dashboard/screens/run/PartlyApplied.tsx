import type { Run, RunEvent } from "../../api/Types.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { diagnosisWords } from "./DiagnosisWords.ts"
import { expectedOf, progressOf } from "./Phases.ts"

interface PartlyAppliedProps {
  readonly run: Run
  readonly plan: Run | undefined
  readonly events: ReadonlyArray<RunEvent>
}

/** Shows the objects that remain after a failed Run saved its state, with counts if the tool reported any. */
export const PartlyApplied = ({ events, plan, run }: PartlyAppliedProps) => {
  const words = useWords(diagnosisWords)
  const items = run.type === "restore" ? [] : progressOf(events)
  const done = items.filter(({ state }) => state === "done").length
  const total = Math.max(expectedOf(plan), items.length)
  return (
    <Notice tone="info" title={words.partialTitle}>
      <p>{total === 0 ? words.partialText : words.partialCount(done, total)}</p>
    </Notice>
  )
}
