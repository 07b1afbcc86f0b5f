import { Schema } from "effect"
import { RunEventKind } from "../../../schema/events/RunEvent.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/JsonText.ts"
import { table } from "../../base/database/Table.ts"

/** The description of one event. */
export const EventDataJson = jsonText(Schema.Record(Schema.String, Schema.Unknown))

/** The events of Runs. */
export const RunEventRow = table("run_events", {
  run_id: RunId,
  seq: Schema.Int,
  at: Timestamp,
  kind: RunEventKind,
  data: EventDataJson
})
