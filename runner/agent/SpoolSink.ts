import { DateTime, Effect, Schema } from "effect"
import { longestReportedLine } from "../../schema/agent/AgentJob.ts"
import { closed, longestEventText, ReportedFact } from "../../schema/events/RunEvent.ts"
import type { RunSink } from "../execution/RunSink.ts"
import type { Spool } from "./Spool.ts"
import type { StateUploads } from "./StateUploads.ts"

const decodeFact = Schema.decodeUnknownEffect(ReportedFact, closed)
const now = Effect.map(DateTime.now, DateTime.formatIso)

const cut = (data: object) =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === "string" ? value.slice(0, longestEventText) : value
    ])
  )

/** The sink of a Run on an agent: its spool has stored the entry when this returns. Entries arrive already redacted. */
export const spoolSink = (spool: Spool, uploads: StateUploads): RunSink => ({
  event: (kind, data) =>
    Effect.all({ at: now, fact: Effect.orDie(decodeFact({ kind, data: cut(data) })) }).pipe(
      Effect.flatMap(({ at, fact }) => spool.append({ kind: "event", at, fact }))
    ),
  log: (phase, stream, text) =>
    Effect.flatMap(now, (at) =>
      spool.append({ kind: "line", at, phase, stream, text: text.slice(0, longestReportedLine) })
    ),
  checkpoint: uploads.offer
})
