import { Schema } from "effect"
import { rowShape } from "../../actors/base/database/Table.ts"

/** A row of `PRAGMA integrity_check`. Without faults, the only row is `ok`. */
export const IntegrityFinding = rowShape({ integrity_check: Schema.String })

/** A row of `PRAGMA foreign_key_check`. */
export const DanglingRow = rowShape({
  table: Schema.String,
  rowid: Schema.NullOr(Schema.Int),
  parent: Schema.String,
  fkid: Schema.Int
})
