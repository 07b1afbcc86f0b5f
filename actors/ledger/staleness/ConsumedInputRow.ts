import { Schema } from "effect"
import { CapsuleId, DependencyId, StateVersionId } from "../../../schema/records/Ids.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** The inputs that a Capsule's last apply consumed. */
export const ConsumedInputRow = table("consumed_inputs", {
  capsule_id: CapsuleId,
  dependency_id: DependencyId,
  input: Schema.String,
  producer_capsule_id: CapsuleId,
  output: Schema.String,
  name: Schema.String,
  state_version_id: StateVersionId
})
export type ConsumedInputRow = RowOf<typeof ConsumedInputRow.columns>
