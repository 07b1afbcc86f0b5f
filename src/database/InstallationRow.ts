import { Schema } from "effect"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../actors/base/database/Table.ts"

/**
 * The identity of this installation. The table has a single row. `incarnation` is the number of processes that have executed
 * its Runs. `release` is the last release that served the installation.
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
