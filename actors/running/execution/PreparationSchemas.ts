import { Schema } from "effect"
import { Lifecycle } from "../../../schema/policy/PostApplyCheck.ts"
import { CompatibilityReportId } from "../../../schema/records/Ids.ts"
import { RunEvidence, ToolIdentity } from "../../../schema/records/Run.ts"
import { ConsumedOutput } from "../../ledger/consumption/ConsumedOutputs.ts"
import { ResolvedDeliveries } from "../../inputs/delivery/RunDeliveries.ts"
import type { PreparationSchema } from "../../ledger/run/RunPreparations.ts"

/*
 * Data that the preparation step stores for the settlement step, keyed by kind of preparation. All other data is already in
 * the database: the authority in the Run's row, the configuration under its id, and secrets in sealed columns. Never put a
 * secret into these schemas.
 */

/**
 * A plan or destroy plan.
 * - `place`: selects the operator's base configuration
 * - `consumed`: StateVersions that supplied Outputs of other Capsules
 * - `deliveries`: the host application's values, fixed when the plan is stored for review
 * - `commitAuthors`: for a speculative plan, the addresses of the authors of every commit between the base and the head; absent
 *   if they could not be read
 */
export const PreparedPlan = Schema.Struct({
  reportId: CompatibilityReportId,
  evidence: RunEvidence,
  place: Schema.Struct({ url: Schema.String, path: Schema.String }),
  consumed: Schema.Array(ConsumedOutput),
  deliveries: ResolvedDeliveries,
  commitAuthors: Schema.optionalKey(Schema.Array(Schema.String))
})
export type PreparedPlan = typeof PreparedPlan.Type

/**
 * An apply or destroy apply.
 *
 * - `lockText`: the reviewed provider lock; absent if the module uses no installed provider
 * - `lifecycle`: the operator's checks after the apply
 */
export const PreparedApply = Schema.Struct({
  evidence: RunEvidence,
  tool: ToolIdentity,
  lockText: Schema.optionalKey(Schema.String),
  lifecycle: Schema.optionalKey(Lifecycle)
})
export type PreparedApply = typeof PreparedApply.Type

export const PreparedDriftCheck = Schema.Struct({ evidence: RunEvidence })
export type PreparedDriftCheck = typeof PreparedDriftCheck.Type

export const preparedPlanSchema: PreparationSchema<PreparedPlan> = {
  kind: "plan",
  json: Schema.fromJsonString(PreparedPlan)
}
export const preparedApplySchema: PreparationSchema<PreparedApply> = {
  kind: "apply",
  json: Schema.fromJsonString(PreparedApply)
}
export const preparedDriftCheckSchema: PreparationSchema<PreparedDriftCheck> = {
  kind: "drift_check",
  json: Schema.fromJsonString(PreparedDriftCheck)
}
