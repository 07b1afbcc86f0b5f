import { Schema } from "effect"
import { ConnectionId, RunId } from "../../../schema/records/Ids.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Which Run was given which values. */
export const ConnectionHoldRow = table(
  "connection_holds",
  {
    run_id: RunId,
    connection_id: ConnectionId,
    version: Schema.Int,
    token_generation: Schema.Int
  },
  ["token_generation"]
)
export type ConnectionHoldRow = RowOf<typeof ConnectionHoldRow.columns>

/** Sealed values that have been replaced by newer ones. */
export const FormerValuesRow = table("former_connection_values", {
  connection_id: ConnectionId,
  version: Schema.Int,
  sealed_values: Schema.String
})
export type FormerValuesRow = RowOf<typeof FormerValuesRow.columns>

/** Sealed tokens that have been replaced by newer ones. */
export const FormerTokensRow = table("former_connection_tokens", {
  connection_id: ConnectionId,
  token_generation: Schema.Int,
  sealed_tokens: Schema.String
})
export type FormerTokensRow = RowOf<typeof FormerTokensRow.columns>
