import { Schema } from "effect"
import { RunLogEntry } from "../../../schema/events/RunEvent.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { jsonText } from "../../base/database/JsonText.ts"
import { table } from "../../base/database/Table.ts"

export const LogEntriesJson = jsonText(Schema.Array(RunLogEntry))

/** The lines `first_seq` to `last_seq` of a Run's log. */
export const RunLogChunkRow = table("run_log_chunks", {
  run_id: RunId,
  first_seq: Schema.Int,
  last_seq: Schema.Int,
  bytes: Schema.Int,
  entries: LogEntriesJson
})
