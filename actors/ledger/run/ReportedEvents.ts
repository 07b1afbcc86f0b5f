import { Effect, Schema } from "effect"
import { plainText } from "../../../runner/redaction/LogText.ts"
import { closed, longestEventText, ReportedFact } from "../../../schema/events/RunEvent.ts"
import type { Timestamp } from "../../../schema/records/Primitives.ts"

/** An event as reported by a place of execution. */
export type ReportedEvent = ReportedFact & { readonly at: Timestamp }

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

const cleaned = (value: unknown): unknown =>
  typeof value === "string" ? plainText(value.slice(0, longestEventText)).slice(0, longestEventText) : value

/** Reported data is flat: the schemas refuse anything deeper. */
const withCleanTexts = (fact: unknown): unknown =>
  isRecord(fact) && isRecord(fact["data"])
    ? {
        ...fact,
        data: Object.fromEntries(Object.entries(fact["data"]).map(([name, value]) => [name, cleaned(value)]))
      }
    : fact

const decodeFact = Schema.decodeUnknownEffect(ReportedFact, closed)

/**
 * Accepts what a runner reports. Unknown fields are refused, as are kinds that are unknown or reserved for the service. The
 * runner has already redacted and cleaned its output; it is cleaned again here, since nothing else stands between it and a
 * reader.
 */
export const receivedFact = (fact: unknown): Effect.Effect<ReportedFact, Schema.SchemaError> =>
  Effect.suspend(() => decodeFact(withCleanTexts(fact)))
