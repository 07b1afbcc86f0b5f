import { Schema } from "effect"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { table } from "../../base/database/Table.ts"

/** What was prepared; each kind has a closed schema for its data. */
export const PreparationKind = Schema.Literals(["plan", "apply", "drift_check"])
export type PreparationKind = typeof PreparationKind.Type

/** What preparing an execution records for its settlement: ids, digests and evidence as JSON, never a secret. */
export const PreparationRow = table("run_preparations", {
  run_id: RunId,
  fence: Schema.Int,
  kind: PreparationKind,
  data: Schema.String,
  created_at: Timestamp
})
