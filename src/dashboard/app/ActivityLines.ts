import type { AuditEvent, Run } from "../api/Types.ts"
import { dayOf } from "../words/Days.ts"

/** A line in the activity. It stands for one event, for repetitions of an event, or for syncs that found nothing new. */
export type ActivityLine =
  | { readonly kind: "event"; readonly event: AuditEvent }
  | { readonly kind: "repeated" | "quiet"; readonly events: readonly [AuditEvent, ...ReadonlyArray<AuditEvent>] }

/** The person's comment on the action. */
export const commentOf = ({ data }: AuditEvent): string | undefined =>
  typeof data.comment === "string" && data.comment !== "" ? data.comment : undefined

/**
 * Returns true if both events are the same action by the same person. If an action has a comment, it gets a separate line.
 */
const isSame = (one: AuditEvent, other: AuditEvent): boolean =>
  one.action === other.action &&
  one.actor.kind === other.actor.kind &&
  one.actor.subject === other.actor.subject &&
  one.target.kind === other.target.kind &&
  commentOf(one) === undefined &&
  commentOf(other) === undefined

/** Returns a line for each event, in the order of the events, but merges consecutive repetitions into one line. */
export const foldRepeated = (events: ReadonlyArray<AuditEvent>): ReadonlyArray<ActivityLine> => {
  const lines: Array<ActivityLine> = []
  for (const event of events) {
    const above = lines.at(-1)
    const before = above === undefined ? undefined : above.kind === "event" ? above.event : above.events[0]
    if (above === undefined || before === undefined || !isSame(before, event)) lines.push({ kind: "event", event })
    else if (above.kind === "event") lines[lines.length - 1] = { kind: "repeated", events: [above.event, event] }
    else lines[lines.length - 1] = { kind: "repeated", events: [...above.events, event] }
  }
  return lines
}

type SyncRun = Pick<Run, "createdAt" | "id" | "sourceId" | "sourceSnapshotId" | "status" | "type">

/** Returns the Runs for syncs that found nothing new since earlier syncs of the same Source. */
export const syncsWithoutNews = (runs: ReadonlyArray<SyncRun>): ReadonlySet<string> => {
  const known = new Set<string>()
  const without = new Set<string>()
  for (const { id, sourceId, sourceSnapshotId, status, type } of runs.toSorted((a, b) =>
    a.createdAt.localeCompare(b.createdAt)
  )) {
    if (type !== "source_sync" || status !== "succeeded" || sourceSnapshotId === undefined) continue
    const brought = `${sourceId ?? ""} ${sourceSnapshotId}`
    if (known.has(brought)) without.add(id)
    known.add(brought)
  }
  return without
}

export interface ActivityDay {
  /** The local date, in the format that date fields use. */
  readonly day: string
  readonly lines: ReadonlyArray<ActivityLine>
}

/** Groups the activity by day, newest first. The syncs of a day that found nothing new share the last line of that day. */
export const activityByDay = (
  events: ReadonlyArray<AuditEvent>,
  runs: ReadonlyArray<SyncRun>
): ReadonlyArray<ActivityDay> => {
  const without = syncsWithoutNews(runs)
  const isQuiet = ({ action, runId }: AuditEvent) =>
    action === "source.sync" && runId !== undefined && without.has(runId)
  return [...Map.groupBy(events, ({ createdAt }) => dayOf(createdAt))].map(([day, all]) => {
    const [first, ...more] = all.filter(isQuiet)
    const told = foldRepeated(all.filter((event) => !isQuiet(event)))
    return { day, lines: first === undefined ? told : [...told, { kind: "quiet", events: [first, ...more] }] }
  })
}
