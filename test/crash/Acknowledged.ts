import { Effect } from "effect"
import type { CrashHost } from "./CrashHost.ts"

/** Results that the server has reported to a client and must never undo. */
export interface Acknowledged {
  readonly installPlans: Set<string>
  readonly capsules: Set<string>
  readonly runs: Set<string>
  readonly approved: Set<string>
  /** Numbers of export links returned and of archives received completely. */
  readonly exports: { granted: number; downloaded: number }
  /** For each Run, the kinds of its events 1, 2, 3, ... that have been read. */
  readonly events: Map<string, ReadonlyArray<string>>
}

export const nothingAcknowledged = (): Acknowledged => ({
  installPlans: new Set(),
  capsules: new Set(),
  runs: new Set(),
  approved: new Set(),
  exports: { granted: 0, downloaded: 0 },
  events: new Map()
})

/** Reads the events of every known Run from the current server as they arrive. */
export const readEvents = Effect.fnUntraced(function* (host: CrashHost, acknowledged: Acknowledged) {
  for (;;) {
    for (const runId of acknowledged.runs) {
      const known = acknowledged.events.get(runId) ?? []
      const { client } = yield* host.current
      const read = client.runs.events({ params: { runId }, query: { after: known.length, limit: 100 } })
      const events = yield* Effect.match(read, { onFailure: () => [], onSuccess: (page) => page.events })
      acknowledged.events.set(runId, [...known, ...events.map(({ kind }) => kind)])
    }
    yield* Effect.sleep("100 millis")
  }
})
