import { Schema } from "effect"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { ReviewKind } from "../../base/RestoredRecords.ts"

/** Restored records that the operator has to confirm. */
export const RestoreReviewRow = table("restore_review", {
  record_id: Schema.String,
  kind: ReviewKind,
  previous_status: Schema.String,
  restored_at: Timestamp,
  decision: Schema.NullOr(Schema.Literals(["confirmed", "removed"])),
  decided_at: Schema.NullOr(Timestamp)
})
export type RestoreReviewRow = RowOf<typeof RestoreReviewRow.columns>
