import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { leftOverStatesQuery } from "../../api/Queries.ts"
import type { Capsule, OrphanedState } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { Time } from "../../ui/Time.tsx"
import { bytes } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { AdoptDialog, DiscardDialog } from "./OrphanedStateDialogs.tsx"
import { orphanedStateWords } from "./OrphanedStateWords.ts"

interface OrphanedStateEntryProps {
  readonly capsule: Capsule
  readonly leftOver: OrphanedState
}

const OrphanedStateEntry = ({ capsule, leftOver }: OrphanedStateEntryProps) => {
  const text = useWords(orphanedStateWords)
  const workspace = useWorkspace()
  const may = useMay()
  const [asking, setAsking] = useState<"adopt" | "discard">()
  const problems = leftOver.adoptionProblems
  const close = () => setAsking(undefined)
  return (
    <Notice tone="warn" title={text.title}>
      <p>
        {text.reasons[leftOver.reason]} {text.about}
      </p>
      <p className="muted">
        {text.facts(leftOver.serial === undefined ? text.unknown : String(leftOver.serial), bytes(leftOver.sizeBytes))}
        {leftOver.resourceCount === undefined ? null : ` · ${text.resources(leftOver.resourceCount)}`} ·{" "}
        <Time at={leftOver.createdAt} /> ·{" "}
        <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: leftOver.runId }}>
          {text.run}
        </Link>
      </p>
      {problems.length === 0 ? null : (
        <>
          <p>{text.inTheWay}</p>
          <ul>
            {problems.map(({ code, message }) => (
              <li key={code} lang="en">
                {message}
              </li>
            ))}
          </ul>
        </>
      )}
      {may("owner") ? (
        <div className="form-actions">
          {problems.length > 0 ? null : (
            <Button small onClick={() => setAsking("adopt")}>
              {text.adopt}
            </Button>
          )}
          <Button small onClick={() => setAsking("discard")}>
            {text.discard}
          </Button>
        </div>
      ) : (
        <p className="muted">{text.ownerOnly}</p>
      )}
      {asking === "adopt" ? <AdoptDialog capsule={capsule} leftOver={leftOver} onClose={close} /> : null}
      {asking === "discard" ? <DiscardDialog capsule={capsule} leftOver={leftOver} onClose={close} /> : null}
    </Notice>
  )
}

/** The orphaned states of a Capsule's applies, or of one apply, that have been neither adopted nor discarded. */
export const OrphanedStateList = ({ capsule, runId }: { readonly capsule: Capsule; readonly runId?: string }) => {
  const leftOvers = useQuery(leftOverStatesQuery(capsule.id)).data ?? []
  return leftOvers.map((leftOver) =>
    leftOver.status !== "kept" || (runId !== undefined && leftOver.runId !== runId) ? null : (
      <OrphanedStateEntry key={leftOver.id} capsule={capsule} leftOver={leftOver} />
    )
  )
}
