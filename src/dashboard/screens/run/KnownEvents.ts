import type { Run, RunStatus } from "../../api/Types.ts"

/**
 * The status of a Run after an event, for events after which the Run is no longer in progress. After an approval, the status
 * is ambiguous.
 */
const restsAt: Readonly<Record<string, RunStatus>> = {
  "run.waiting_approval": "waiting_approval",
  "run.approved": "succeeded",
  "run.succeeded": "succeeded",
  "run.failed": "failed",
  "run.cancelled": "cancelled",
  "run.superseded": "superseded",
  "run.expired": "expired"
}

/** Returns true if a Run already reflects these events, so that they are only a replay. */
export const saysAlready = (
  run: Pick<Run, "status"> | undefined,
  events: ReadonlyArray<{ readonly kind: string }>
): boolean => {
  const last = events.findLast(({ kind }) => kind.startsWith("run."))
  return run !== undefined && last !== undefined && restsAt[last.kind] === run.status
}
