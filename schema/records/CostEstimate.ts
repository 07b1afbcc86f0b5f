import { Schema } from "effect"
import { RunId } from "./Ids.ts"

/** One planned change and its cost: amounts are per month, in the currency of the estimate. */
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
 * The change that a plan makes to the monthly bill, according to the operator's price table. `reasons` lists the parts that the
 * total leaves out; an estimate without reasons covers every managed resource in the plan.
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
