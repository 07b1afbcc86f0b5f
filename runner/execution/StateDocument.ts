import { Schema } from "effect"

export const PathStep = Schema.Struct({ type: Schema.String, value: Schema.Unknown })

export const Instance = Schema.Struct({
  index_key: Schema.optionalKey(Schema.Unknown),
  deposed: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** `tainted`, or absent. */
  status: Schema.optionalKey(Schema.NullOr(Schema.String)),
  attributes: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  sensitive_attributes: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Array(PathStep))))
})

export const Resource = Schema.Struct({
  mode: Schema.String,
  module: Schema.optionalKey(Schema.NullOr(Schema.String)),
  type: Schema.optionalKey(Schema.NullOr(Schema.String)),
  name: Schema.optionalKey(Schema.NullOr(Schema.String)),
  provider: Schema.optionalKey(Schema.NullOr(Schema.String)),
  instances: Schema.optionalKey(Schema.NullOr(Schema.Array(Instance)))
})

const Output = Schema.Struct({
  value: Schema.Json,
  type: Schema.Json,
  sensitive: Schema.optionalKey(Schema.Boolean)
})

export const Outputs = Schema.Record(Schema.String, Output)

/** A state in format version 4. If OpenTofu encrypted it, only the serial and lineage of the envelope are readable. */
export const StateDocument = Schema.Struct({
  serial: Schema.Int,
  lineage: Schema.String.check(Schema.isMinLength(1)),
  version: Schema.optionalKey(Schema.Int),
  terraform_version: Schema.optionalKey(Schema.String),
  outputs: Schema.optionalKey(Schema.NullOr(Outputs)),
  resources: Schema.optionalKey(Schema.NullOr(Schema.Array(Resource))),
  encrypted_data: Schema.optionalKey(Schema.Unknown)
})
