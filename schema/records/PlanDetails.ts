import { Schema, Struct } from "effect"
import { DiffersFrom } from "./CarryOver.ts"
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

/** For a hidden value: whether it is marked as sensitive before and after the change. Absent where the value does not exist. */
const sensitivity = {
  beforeSensitive: Schema.optionalKey(Schema.Boolean),
  afterSensitive: Schema.optionalKey(Schema.Boolean)
}

export const ChangedAttribute = Schema.Struct({
  name: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json),
  sensitive: Schema.optionalKey(Schema.Boolean),
  ...sensitivity,
  /** True if the value is known only after the apply. */
  unknown: Schema.optionalKey(Schema.Boolean),
  /** Paths (keys and positions) to the parts of the value that are known only after the apply. */
  unknownPaths: Schema.optionalKey(Schema.Array(Schema.Array(Schema.Union([Schema.String, Schema.Finite])))),
  /** True if this change forces the tool to replace the resource instead of updating it. */
  forcesReplacement: Schema.optionalKey(Schema.Boolean)
})

export class ResourceChange extends Schema.Opaque<ResourceChange>()(
  Schema.Struct({
    address: Schema.String,
    /**
     * The key of the deposed object. Set if the change affects an object that an earlier replacement left behind, rather
     * than the live object.
     */
    deposed: Schema.optionalKey(Schema.String),
    /** Set if the tool replaces the object because the object is tainted. */
    tainted: Schema.optionalKey(Schema.Literal(true)),
    mode: Schema.String,
    type: Schema.String,
    name: Schema.String,
    provider: Schema.String,
    actions: Schema.Array(Schema.String),
    reason: Schema.optionalKey(Schema.String),
    /** Set if this apply imports an existing resource. `id` is the provider's id, if the plan contains it. */
    importing: Schema.optionalKey(Schema.Struct({ id: Schema.optionalKey(Schema.String) })),
    /** The previous address of a resource that the plan moves. */
    previousAddress: Schema.optionalKey(Schema.String),
    changedAttributes: Schema.Array(ChangedAttribute),
    references: Schema.optionalKey(Schema.Array(ChangeReferences))
  }).annotate({ identifier: "ResourceChange" })
) {}

/** An Output that the apply publishes or withdraws. */
export const OutputPublication = Schema.Union([
  Schema.Struct({
    change: Schema.Literal("published"),
    /**
     * The reason why the Output becomes public. `mark_removed`: the module no longer marks it as sensitive. `secret_gone`:
     * the Output no longer repeats a secret. `restored`: the Output was public in the backup.
     */
    reason: Schema.Literals(["new", "mark_removed", "secret_gone", "restored"])
  }),
  Schema.Struct({
    change: Schema.Literal("withdrawn"),
    reason: Schema.Literals(["removed", "marked_sensitive", "holds_secret", "restored"])
  })
])
export type OutputPublication = typeof OutputPublication.Type

export class OutputChange extends Schema.Opaque<OutputChange>()(
  Schema.Struct({
    name: Schema.String,
    actions: Schema.Array(Schema.String),
    before: Schema.optionalKey(Schema.Json),
    after: Schema.optionalKey(Schema.Json),
    sensitive: Schema.Boolean,
    ...sensitivity,
    unknown: Schema.optionalKey(Schema.Boolean),
    /** Set if the apply publishes or withdraws the Output. */
    publication: Schema.optionalKey(OutputPublication),
    /** The reason why the value remains private although the module does not mark it as sensitive. */
    reason: Schema.optionalKey(Schema.Literal("holds_secret")),
    /** With `reason`: the secret values that the Output repeats, such as `var.db.password`. */
    origins: Schema.optionalKey(Schema.Array(Schema.String))
  }).annotate({ identifier: "OutputChange" })
) {}

/**
 * `error`: the condition could not be evaluated. `unknown`: the condition depends on values that are known only after the
 * apply.
 */
export const CheckStatus = Schema.Literals(["pass", "fail", "error", "unknown"])

/** A condition that the plan evaluated, in a check block, resource, Output or variable. */
export class PlanCheck extends Schema.Opaque<PlanCheck>()(
  Schema.Struct({
    /** The tool's term, such as `check`, `resource`, `output_value` or `var`. */
    kind: Schema.String,
    address: Schema.String,
    status: CheckStatus,
    instances: Schema.Array(
      Schema.Struct({
        address: Schema.String,
        status: CheckStatus,
        /** The module's messages for conditions that failed. */
        problems: Schema.optionalKey(Schema.Array(Schema.String))
      })
    )
  }).annotate({ identifier: "PlanCheck" })
) {}

/** The detailed findings of a plan or drift check. Their size grows with the module, so lists of Runs omit them. */
export class PlanDetails extends Schema.Opaque<PlanDetails>()(
  Schema.Struct({
    resourceChanges: Schema.optionalKey(Schema.Array(ResourceChange)),
    outputChanges: Schema.optionalKey(Schema.Array(OutputChange)),
    /** Names of all Outputs that are public after the apply. */
    publicOutputs: Schema.optionalKey(Schema.Array(Schema.String)),
    resourceDrift: Schema.optionalKey(Schema.Array(ResourceChange)),
    /** Absent for plans from earlier releases, and for modules without conditions. */
    checks: Schema.optionalKey(Schema.Array(PlanCheck)),
    /**
     * Set if people approved a change in a speculative plan, and svc did not carry their approvals over to this plan of the lane.
     */
    differsFrom: Schema.optionalKey(DiffersFrom)
  })
) {}

export const planDetailNames = Struct.keys(PlanDetails.fields)

const isNothing = (actions: ReadonlyArray<string>): boolean => actions.every((action) => action === "no-op")

/**
 * Returns true if an apply would change anything: objects, their addresses, or Outputs and their visibility. Also returns
 * true for a plan that accepts drift, because the plan changes the state.
 */
export const changesSomething = ({
  outputChanges = [],
  refreshOnly = false,
  resourceChanges = [],
  resourceDrift = []
}: PlanDetails & { readonly refreshOnly?: boolean }): boolean =>
  (refreshOnly && resourceDrift.length > 0) ||
  resourceChanges.some(
    ({ actions, importing, previousAddress }) =>
      !isNothing(actions) || importing !== undefined || previousAddress !== undefined
  ) ||
  outputChanges.some(({ actions, publication }) => !isNothing(actions) || publication !== undefined)
