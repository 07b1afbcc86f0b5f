import type { Run } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { decisionWords } from "./DecisionWords.ts"

interface DecidedProps {
  readonly what: string
  readonly decision: Pick<NonNullable<Run["cancelRequest"]>, "at" | "reason" | "subject">
}

/** Shows a decision about a Run: who made it, when and why. */
export const Decided = ({ decision, what }: DecidedProps) => {
  const words = useWords(decisionWords)
  const actorName = useActorName()
  const { at, reason, subject } = decision
  return (
    <>
      <p data-testid="run-decision">
        {words.decidedBy(what, subject === undefined ? "svc" : actorName(subject))} <Time at={at} />
      </p>
      {reason === undefined ? null : (
        <p>
          {words.because} <q>{reason}</q>
        </p>
      )}
    </>
  )
}

/**
 * The person who ended a Run before it was finished. For Runs from earlier releases, only the reason is known, from their
 * events.
 */
export const Ended = ({ reason, run }: { readonly run: Run; readonly reason: string | undefined }) => {
  const words = useWords(decisionWords)
  if (run.endedBy !== undefined) return <Decided what={words.ends[run.endedBy.kind]} decision={run.endedBy} />
  return reason === undefined ? null : (
    <p>
      {words.because} {reason}
    </p>
  )
}
