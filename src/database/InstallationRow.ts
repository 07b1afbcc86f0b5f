import { Schema } from "effect"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../actors/base/database/Table.ts"

/**
 * The identity of this installation, in one row. `incarnation`: how many processes have executed its Runs. `release`: the last
 * one to serve it.
 */
export const InstallationRow = table(
  "installation",
  {
    id: Schema.Int,
    installation_id: Schema.String,
    created_at: Timestamp,
    restored_at: Schema.NullOr(Timestamp),
    incarnation: Schema.Int,
    release: Schema.NullOr(Schema.String)
  },
  ["incarnation"]
)
export type InstallationRow = RowOf<typeof InstallationRow.columns>
