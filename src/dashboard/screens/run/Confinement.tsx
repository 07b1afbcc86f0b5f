import type { Run } from "../../api/Types.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { decisionWords } from "./DecisionWords.ts"

/** The levels at which a module has a separate file system and separate processes. */
const separateLevels: ReadonlySet<string> = new Set(["bubblewrap", "namespaces"])

/**
 * Describes the isolation of a plan. A plan has already executed somebody else's code, so its approver must see the systems that
 * the code could reach.
 */
export const Confinement = ({ run }: { readonly run: Run }) => {
  const words = useWords(decisionWords)
  const isLow = run.isolation !== undefined && !separateLevels.has(run.isolation)
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
