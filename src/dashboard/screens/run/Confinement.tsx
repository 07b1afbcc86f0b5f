import type { Run } from "../../api/Types.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { decisionWords } from "./DecisionWords.ts"

/** Levels at which a module has its own file system and processes. */
const separate: ReadonlySet<string> = new Set(["bubblewrap", "namespaces"])

/** A plan is somebody else's code that has already run: its approver must know the systems that it could reach. */
export const Confinement = ({ run }: { readonly run: Run }) => {
  const words = useWords(decisionWords)
  const isLow = run.isolation !== undefined && !separate.has(run.isolation)
  const isShared = run.network === "host"
  if (!isLow && !isShared) return null
  return (
    <Notice tone="warn" title={words.confinementTitle}>
      {isLow ? <p>{words.confinementLevel}</p> : null}
      {run.isolation === "process" ? <p>{words.confinementUnbounded}</p> : null}
      {isShared ? <p>{words.confinementNetwork}</p> : null}
    </Notice>
  )
}
