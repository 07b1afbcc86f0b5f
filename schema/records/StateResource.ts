import { Schema } from "effect"
import { RunId, StateVersionId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

const instance = {
  address: Schema.String,
  type: Schema.String,
  /** The address of its provider, such as `hashicorp/aws`. */
  provider: Schema.String,
  /** The key of an object that still waits to be destroyed after its replacement. */
  deposed: Schema.optionalKey(Schema.String)
}

/** An instance of a managed resource, without its values. */
export const StateResource = Schema.Struct({
  ...instance,
  /** Absent where it is, or may be, a secret. */
  id: Schema.optionalKey(Schema.String),
  /** The Run that made it as it is. Its record may be gone by now. */
  changedByRunId: RunId,
  changedAt: Timestamp
}).annotate({ identifier: "StateResource" })
export type StateResource = typeof StateResource.Type

/** What became of something between two StateVersions. */
const StateChange = Schema.Literals(["added", "removed", "changed"])

/** A resource that is not the same in two StateVersions. */
export const ResourceDifference = Schema.Struct({
  ...instance,
  change: StateChange,
  /** Names of attributes, for `changed`. */
  changedAttributes: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "ResourceDifference" })
export type ResourceDifference = typeof ResourceDifference.Type

/** An Output that is not the same in two StateVersions. */
export const OutputDifference = Schema.Struct({ name: Schema.String, change: StateChange }).annotate({
  identifier: "OutputDifference"
})
export type OutputDifference = typeof OutputDifference.Type

/** The difference of two StateVersions of a Capsule, as far as one page shows it. */
export const StateDifference = Schema.Struct({
  /** Absent where nothing came before. */
  from: Schema.optionalKey(StateVersionId),
  to: StateVersionId,
  /** Whether both could be compared. */
  indexed: Schema.Boolean,
  resources: Schema.Array(ResourceDifference),
  outputs: Schema.Array(OutputDifference)
}).annotate({ identifier: "StateDifference" })
export type StateDifference = typeof StateDifference.Type
