import { Schema } from "effect"
import { type RowOf, table } from "../database/Table.ts"

/** A part of a sealed value that is too long for one row. */
export const SealedPartRow = table("sealed_parts", {
  value: Schema.String,
  part: Schema.Int,
  owner: Schema.String,
  nonce: Schema.String,
  bytes: Schema.Uint8Array
})
export type SealedPartRow = RowOf<typeof SealedPartRow.columns>
