import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { SourceChanges } from "../../../../schema/records/SourceChanges.ts"
import { sourceChangesQuery } from "../../api/PlanQueries.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { FaultNotice, Skeleton } from "../../ui/Feedback.tsx"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import { useWords } from "../../words/Words.ts"
import { planBasisWords } from "./PlanBasisWords.ts"

const FileList = ({ changes }: { readonly changes: typeof SourceChanges.Encoded }) => {
  const words = useWords(planBasisWords)
  if (changes.status !== "compared") return <p className="muted">{words.fileStates[changes.status]}</p>
  return (
    <>
      {changes.since === undefined ? null : (
        <p>
          <span className="muted">{words.since}</span>{" "}
          <CommitLine id={changes.since.resolvedCommit} description={changes.since.commitDescription} />
        </p>
      )}
      <p>{changes.fileCount === 0 ? words.noFiles : words.fileCount(changes.fileCount)}</p>
      {changes.scope === "source" ? <p className="muted">{words.ofSource}</p> : null}
      <ul className="plain-list">
        {changes.files.map(({ change, path }) => (
          <li key={path}>
            <code>{visibleText(path)}</code> <span className="muted">{words.fileChange[change]}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The module files that a plan's commit changed, fetched on request. */
export const ChangedFiles = ({ runId }: { readonly runId: string }) => {
  const words = useWords(planBasisWords)
  const [isOpen, setOpen] = useState(false)
  const { data, error } = useQuery({ ...sourceChangesQuery(runId), enabled: isOpen })
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} data-testid="changed-files">
      <summary>{words.showFiles}</summary>
      {!isOpen ? null : data !== undefined ? (
        <FileList changes={data} />
      ) : error === null ? (
        <Skeleton rows={2} />
      ) : (
        <FaultNotice error={error} />
      )}
    </details>
  )
}
