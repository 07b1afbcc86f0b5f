import type { QueuePlace } from "../../../schema/records/QueuePlace.ts"

type FieldProse<R extends { readonly fields: object }> = { readonly [Field in keyof R["fields"]]?: string }

/** Descriptions of record fields whose names do not explain them, by the record's name in the description. */
export const recordProse: { readonly QueuePlace: FieldProse<typeof QueuePlace> } = {
  QueuePlace: {
    position:
      "Place in the line that the reason names, 1 being the next to start. With capsule_busy: among the Runs of the Capsule, the running one included. Otherwise: among the Runs of the Workspace that wait for a place of the same pool, in the order in which they start.",
    pool: "Which places it waits for: builds (syncs, compatibility checks, plans with a source build), agents (those of the pool that the Run is for) or runs (everything else).",
    reason:
      "capsule_busy: another Run of the Capsule goes first. workspace_limit: the Workspace has as many Runs executing as it may. places_taken: every place of the pool is taken. place_kept: a drift check leaves the last free place to what a person may ask for. no_agent: no agent of its pool can execute it now, and the message says why. turn: nothing is in its way but the turn of others.",
    message: "The reason as a sentence.",
    missing:
      "With no_agent: what is missing. Several properties where one connected agent lacks the one and another the other.",
    heldByRunId: "The Run of the same Workspace that it waits for, where there is one.",
    limit: "The limit that was reached, with workspace_limit, places_taken and place_kept."
  }
}
