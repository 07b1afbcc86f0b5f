import { Effect, Schema } from "effect"
import { plainText } from "../../runner/redaction/LogText.ts"
import { closed, longestEventText, ReportedFact } from "../../schema/events/RunEvent.ts"
import type { Timestamp } from "../../schema/records/Primitives.ts"

/** An event as a place of execution reports it. */
export type ReportedEvent = ReportedFact & { readonly at: Timestamp }

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

const cleaned = (value: unknown): unknown =>
  typeof value === "string" ? plainText(value.slice(0, longestEventText)).slice(0, longestEventText) : value

/** Data of reports is flat: anything deeper is refused by the schemas. */
const withCleanTexts = (fact: unknown): unknown =>
  isRecord(fact) && isRecord(fact["data"])
    ? {
        ...fact,
        data: Object.fromEntries(Object.entries(fact["data"]).map(([name, value]) => [name, cleaned(value)]))
      }
    : fact

const decodeFact = Schema.decodeUnknownEffect(ReportedFact, closed)

/**
 * Takes what a runner reports. An unknown field is refused, and so is a kind that is unknown or reserved for the service.
 * The runner has redacted and cleaned its texts; they are cleaned again here, as nothing else stands between them and a
 * reader.
 */
export const receivedFact = (fact: unknown): Effect.Effect<ReportedFact, Schema.SchemaError> =>
  Effect.suspend(() => decodeFact(withCleanTexts(fact)))
