import { Schema } from "effect"
import { type RowOf, table } from "../../actors/base/database/Table.ts"

/** The counter of changes of authority: one row, written by triggers. */
export const AuthorityChangeRow = table("authority_changes", {
  id: Schema.Int,
  count: Schema.Int
})
export type AuthorityChangeRow = RowOf<typeof AuthorityChangeRow.columns>
