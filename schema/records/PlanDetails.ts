import { Schema, Struct } from "effect"
import { ChangeReferences } from "./ChangeEvidence.ts"

export class PlanSummary extends Schema.Opaque<PlanSummary>()(
  Schema.Struct({
    add: Schema.Int,
    change: Schema.Int,
    destroy: Schema.Int,
    replace: Schema.Int,
    import: Schema.Int,
    forget: Schema.Int
  }).annotate({ identifier: "PlanSummary" })
) {}

export const ChangedAttribute = Schema.Struct({
  name: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json),
  sensitive: Schema.optionalKey(Schema.Boolean),
  /** Whether the value will only be known after the apply. */
  unknown: Schema.optionalKey(Schema.Boolean),
  /** Whether this change makes the tool replace the resource instead of updating it in place. */
  forcesReplacement: Schema.optionalKey(Schema.Boolean)
})

export class ResourceChange extends Schema.Opaque<ResourceChange>()(
  Schema.Struct({
    address: Schema.String,
    mode: Schema.String,
    type: Schema.String,
    name: Schema.String,
    provider: Schema.String,
    actions: Schema.Array(Schema.String),
    reason: Schema.optionalKey(Schema.String),
    /** Set if the resource already exists and this apply imports it; the id is the provider's, if known from the plan. */
    importing: Schema.optionalKey(Schema.Struct({ id: Schema.optionalKey(Schema.String) })),
    /** The resource's previous address, if the plan moves it. */
    previousAddress: Schema.optionalKey(Schema.String),
    changedAttributes: Schema.Array(ChangedAttribute),
    references: Schema.optionalKey(Schema.Array(ChangeReferences))
  }).annotate({ identifier: "ResourceChange" })
) {}

export class OutputChange extends Schema.Opaque<OutputChange>()(
  Schema.Struct({
    name: Schema.String,
    actions: Schema.Array(Schema.String),
    before: Schema.optionalKey(Schema.Json),
    after: Schema.optionalKey(Schema.Json),
    sensitive: Schema.Boolean,
    unknown: Schema.optionalKey(Schema.Boolean),
    /** Why the value stays private even though the module does not mark it sensitive. */
    reason: Schema.optionalKey(Schema.Literal("holds_secret")),
    /** With `reason`: the value that it repeats, such as `var.db.password`. */
    origins: Schema.optionalKey(Schema.Array(Schema.String))
  }).annotate({ identifier: "OutputChange" })
) {}

/** What a plan or a drift check found, item by item. Its size grows with the module, so lists of Runs do not contain it. */
export class PlanDetails extends Schema.Opaque<PlanDetails>()(
  Schema.Struct({
    resourceChanges: Schema.optionalKey(Schema.Array(ResourceChange)),
    outputChanges: Schema.optionalKey(Schema.Array(OutputChange)),
    resourceDrift: Schema.optionalKey(Schema.Array(ResourceChange))
  })
) {}

export const planDetailNames = Struct.keys(PlanDetails.fields)
