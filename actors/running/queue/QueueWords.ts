import type { QueuePlace } from "../../../schema/records/QueuePlace.ts"
import { slotPoolOf } from "../../ledger/run/RunLedger.ts"
import type { Place } from "./QueueDecision.ts"

/** A place with its sentence. It refers to Runs as a row does: by ids as plain strings. */
export type WordedPlace = typeof QueuePlace.Encoded

const sentenceOf = ({ heldByRunId, limit, pool, reason }: Place): string => {
  const what = pool === "builds" ? "syncs, checks and builds" : "Runs"
  switch (reason) {
    case "capsule_busy":
      return `The Run ${heldByRunId} of the same Capsule goes first.`
    case "workspace_limit":
      return `The Workspace has ${limit} ${what} executing, which is its limit. The next starts when one of them ends.`
    case "places_taken":
      return limit === 1
        ? `The only place for ${what} is taken. Workspaces take turns when it becomes free.`
        : `All ${limit} places for ${what} are taken. Workspaces take turns when one becomes free.`
    case "place_kept":
      return "The last free place is kept for what a person may ask for; a drift check waits until another is free."
    case "no_agent":
      return "No agent of its pool can execute it now."
    case "turn":
      return "Nothing is in its way: it starts when it is its turn."
  }
}

export const inWords = (place: Place): WordedPlace => {
  const { sentence = sentenceOf(place), ...shown } = place
  return { ...shown, pool: slotPoolOf(place.pool), message: sentence }
}
