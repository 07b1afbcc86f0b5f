import { Schema } from "effect"
import { RunId, StateVersionId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { PlanPurpose, Run, RunType } from "./Run.ts"

const instance = {
  address: Schema.String,
  type: Schema.String,
  /** The address of the provider, such as `hashicorp/aws`. */
  provider: Schema.String,
  /** The key of an object that was replaced and is waiting to be destroyed. */
  deposed: Schema.optionalKey(Schema.String),
  /** True if the tool has marked the object as tainted and will replace it. */
  tainted: Schema.optionalKey(Schema.Literal(true))
}

/** An instance of a managed resource, without its values. */
export class StateResource extends Schema.Opaque<StateResource>()(
  Schema.Struct({
    ...instance,
    /** The provider's id of the object; absent if the id is, or may be, a secret. */
    id: Schema.optionalKey(Schema.String),
    /** The Run that last changed the resource. Retention may have removed the Run's record. */
    changedByRunId: RunId,
    changedAt: Timestamp,
    /** The commit of the Run that last changed the resource; absent after the Run's record has been removed. */
    commit: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "StateResource" })
) {}

/** The kind of difference in a resource or Output between two StateVersions. */
const StateChange = Schema.Literals(["added", "removed", "changed"])
/** A `moved` resource may also have other changes. */
const ObjectChange = Schema.Literals([...StateChange.literals, "moved"])
const objectChange = {
  change: ObjectChange,
  /** For `moved`. */
  previousAddress: Schema.optionalKey(Schema.String),
  /** Names of the changed attributes, for `changed` and `moved`. */
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

/** A page of the differences between two StateVersions of a Capsule. */
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

/** The Run that changed a resource, and its plan. Once the records of both have been removed, only the Run's id remains. */
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
    /** Absent if svc itself approved the plan. */
    approvedBy: Run.fields.approvedBy,
    approvedAt: Run.fields.approvedAt
  }).annotate({ identifier: "ResourceChangeRun" })
) {}

/** A change in the history of a resource. */
export class ResourceEvent extends Schema.Opaque<ResourceEvent>()(
  Schema.Struct({
    ...objectChange,
    /** True if the change left the object tainted. */
    tainted: Schema.optionalKey(Schema.Literal(true)),
    /** Generation of the state that contains this change. */
    generation: Schema.Int,
    at: Schema.optionalKey(Timestamp),
    run: ResourceChangeRun
  }).annotate({ identifier: "ResourceEvent" })
) {}

/** A difference between the real resource and the current state. */
export class ResourceDrift extends Schema.Opaque<ResourceDrift>()(
  Schema.Struct({
    /** The drift check that found the difference. */
    runId: RunId,
    at: Schema.optionalKey(Timestamp),
    /** The actions that the check reported, such as `update` or `delete`. */
    actions: Schema.Array(Schema.String),
    changedAttributes: Schema.Array(Schema.String)
  }).annotate({ identifier: "ResourceDrift" })
) {}
