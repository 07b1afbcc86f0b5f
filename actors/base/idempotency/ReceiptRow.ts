import { Schema } from "effect"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

/** The result of a request with an Idempotency-Key. */
export const ReceiptRow = table("idempotency_receipts", {
  scope: Schema.String,
  actor: Schema.String,
  route: Schema.String,
  idempotency_key: Schema.String,
  request_digest: Schema.String,
  result_id: Schema.String,
  first_status: Schema.Int,
  created_at: Timestamp
})
export type ReceiptRow = RowOf<typeof ReceiptRow.columns>
