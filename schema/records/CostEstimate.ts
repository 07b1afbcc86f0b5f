import { Schema } from "effect"
import { RunId } from "./Ids.ts"

/** A planned change with its monthly cost, in the estimate's currency. */
export class CostItem extends Schema.Opaque<CostItem>()(
  Schema.Struct({
    address: Schema.String,
    type: Schema.String,
    actions: Schema.Array(Schema.String),
    monthlyBefore: Schema.optionalKey(Schema.Finite),
    monthlyAfter: Schema.optionalKey(Schema.Finite),
    monthlyDelta: Schema.Finite
  }).annotate({ identifier: "CostItem" })
) {}

/**
 * The effect of a plan on the monthly bill, according to the operator's price list. `reasons` lists everything that the total
 * leaves out; if it is empty, the total covers every managed resource of the plan.
 */
export class CostEstimate extends Schema.Opaque<CostEstimate>()(
  Schema.Struct({
    runId: RunId,
    status: Schema.Literals(["estimated", "not_available"]),
    currency: Schema.optionalKey(Schema.String),
    monthlyDelta: Schema.optionalKey(Schema.Finite),
    items: Schema.Array(CostItem),
    reasons: Schema.Array(Schema.String)
  }).annotate({ identifier: "CostEstimate" })
) {}
