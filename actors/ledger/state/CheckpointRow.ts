import { Schema } from "effect"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** The last state written by a running apply, sealed. */
export const CheckpointRow = table("run_checkpoints", {
  run_id: RunId,
  state: Schema.String,
  saved_at: Timestamp
})
export type CheckpointRow = RowOf<typeof CheckpointRow.columns>
