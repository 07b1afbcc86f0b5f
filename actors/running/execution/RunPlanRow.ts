import { Schema } from "effect"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { BuildColumns } from "../../ledger/build/BuildColumns.ts"
import { table } from "../../base/database/Table.ts"
import { ProvidedMarksJson } from "../agent-pool/PoolRows.ts"

/** The saved plans. `plan_file` and `sealed_secrets` are sealed. */
export const RunPlanRow = table("run_plans", {
  run_id: RunId,
  plan_file: Schema.String,
  lock_text: Schema.String,
  created_at: Timestamp,
  ...BuildColumns.columns,
  sealed_secrets: Schema.NullOr(Schema.String),
  /** JSON; which dependencies and shares the plan received values from. */
  consumed_outputs: Schema.NullOr(Schema.String),
  /** Marks of the agent's own credentials used by the plan. `null` if it used none, or if its agent reported no marks. */
  provided_marks: Schema.NullOr(ProvidedMarksJson),
  /** The version of the secret rule under which the plan was made. */
  secret_rule: Schema.NullOr(Schema.Int)
})
