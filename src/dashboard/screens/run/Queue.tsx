import "../../app/Kit.ts"
import { Link } from "@tanstack/react-router"
import type { Run } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { queueWords } from "./QueueWords.ts"

const waitsFor = (words: typeof queueWords.en, place: NonNullable<Run["queue"]>): string => {
  const pool = words.queuePools[place.pool]
  switch (place.reason) {
    case "capsule_busy":
      return words.queueCapsule(place.position - 1)
    case "workspace_limit":
      return words.queueWorkspaceLimit(place.limit ?? 0, pool)
    case "places_taken":
      return words.queuePlacesTaken(place.limit ?? 0, pool)
    case "place_kept":
      return words.queuePlaceKept
    case "no_agent":
      // A Run without an assigned pool waits for an agent from one of the pools listed below.
      return place.pool === "agents" ? words.queueNoAgent : ""
    case "turn":
      return words.queueTurn
  }
}

/** The position of a queued Run, and the reason why it has not started. */
export const Queue = ({ run }: { readonly run: Run }) => {
  const words = useWords(queueWords)
  const workspace = useWorkspace()
  const place = run.queue
  const holder = place?.heldByRunId
  return (
    <Notice tone="info" title={words.queueTitle}>
      {place === undefined ? null : (
        <p>
          {waitsFor(words, place)}
          {place.reason === "capsule_busy" ? null : ` ${words.queuePosition(place.position)}`}
        </p>
      )}
      {place?.missing === undefined ? null : (
        <ul>
          {place.missing.map(({ needed, property }) => (
            <li key={property}>{words.missing[property](needed ?? "")}</li>
          ))}
        </ul>
      )}
      {place === undefined || run.pool === undefined ? null : (
        <p>
          {words.queueOfPool(run.pool)}{" "}
          <Link to="/w/$workspace/settings/$tab" params={{ workspace: workspace.handle, tab: "agents" }}>
            {words.openAgents}
          </Link>
        </p>
      )}
      {holder === undefined ? null : (
        <p>
          {words.queueHolder}{" "}
          <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: holder }}>
            {words.openHolder}
          </Link>
        </p>
      )}
    </Notice>
  )
}
