import { Schema } from "effect"
import { RunId, StateVersionId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { PlanPurpose, Run, RunType } from "./Run.ts"

const instance = {
  address: Schema.String,
  type: Schema.String,
  /** The provider's address, such as `hashicorp/aws`. */
  provider: Schema.String,
  /** The key of an object that is still waiting to be destroyed after it was replaced. */
  deposed: Schema.optionalKey(Schema.String),
  /** True if the tool has marked it as damaged and will replace it. */
  tainted: Schema.optionalKey(Schema.Literal(true))
}

/** An instance of a managed resource, without its values. */
export class StateResource extends Schema.Opaque<StateResource>()(
  Schema.Struct({
    ...instance,
    /** Absent if it is, or may be, a secret. */
    id: Schema.optionalKey(Schema.String),
    /** The Run that last changed it. The record of that Run may have been removed. */
    changedByRunId: RunId,
    changedAt: Timestamp,
    /** The commit of that Run; absent once its record is gone. */
    commit: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "StateResource" })
) {}

/** The kind of difference between two StateVersions. */
const StateChange = Schema.Literals(["added", "removed", "changed"])
/** A resource that `moved` may also have changed. */
const ObjectChange = Schema.Literals([...StateChange.literals, "moved"])
const objectChange = {
  change: ObjectChange,
  /** For `moved`. */
  previousAddress: Schema.optionalKey(Schema.String),
  /** Names of attributes, for `changed`, and for `moved` if any changed. */
  changedAttributes: Schema.optionalKey(Schema.Array(Schema.String))
}

/** A resource that differs between two StateVersions. */
export class ResourceDifference extends Schema.Opaque<ResourceDifference>()(
  Schema.Struct({
    ...instance,
    ...objectChange
  }).annotate({ identifier: "ResourceDifference" })
) {}

/** An Output that differs between two StateVersions. */
export class OutputDifference extends Schema.Opaque<OutputDifference>()(
  Schema.Struct({ name: Schema.String, change: StateChange }).annotate({
    identifier: "OutputDifference"
  })
) {}

/** One page of the difference between two StateVersions of a Capsule. */
export class StateDifference extends Schema.Opaque<StateDifference>()(
  Schema.Struct({
    /** Absent for the first StateVersion. */
    from: Schema.optionalKey(StateVersionId),
    to: StateVersionId,
    /** True if both StateVersions could be compared. */
    indexed: Schema.Boolean,
    resources: Schema.Array(ResourceDifference),
    outputs: Schema.Array(OutputDifference)
  }).annotate({ identifier: "StateDifference" })
) {}

/** The Run that changed a resource and its plan. Everything but the id is absent once their records have been removed. */
export class ResourceChangeRun extends Schema.Opaque<ResourceChangeRun>()(
  Schema.Struct({
    id: RunId,
    type: Schema.optionalKey(RunType),
    purpose: Schema.optionalKey(PlanPurpose),
    trigger: Schema.optionalKey(Run.fields.trigger),
    commit: Schema.optionalKey(Schema.String),
    finishedAt: Schema.optionalKey(Timestamp),
    planRunId: Schema.optionalKey(RunId),
    /** The person who requested the plan. */
    plannedBy: Schema.optionalKey(Schema.String),
    plannedAt: Schema.optionalKey(Timestamp),
    /** Absent for a plan that the service approved itself. */
    approvedBy: Run.fields.approvedBy,
    approvedAt: Run.fields.approvedAt
  }).annotate({ identifier: "ResourceChangeRun" })
) {}

/** One change in the history of a resource. */
export class ResourceEvent extends Schema.Opaque<ResourceEvent>()(
  Schema.Struct({
    ...objectChange,
    /** True if the change left the object marked as damaged. */
    tainted: Schema.optionalKey(Schema.Literal(true)),
    /** The generation of the state that contains it. */
    generation: Schema.Int,
    at: Schema.optionalKey(Timestamp),
    run: ResourceChangeRun
  }).annotate({ identifier: "ResourceEvent" })
) {}

/** A difference between the real resource and the current state. */
export class ResourceDrift extends Schema.Opaque<ResourceDrift>()(
  Schema.Struct({
    /** The drift check that found it. */
    runId: RunId,
    at: Schema.optionalKey(Timestamp),
    /** The difference that the check found: `update`, `delete`. */
    actions: Schema.Array(Schema.String),
    changedAttributes: Schema.Array(Schema.String)
  }).annotate({ identifier: "ResourceDrift" })
) {}
