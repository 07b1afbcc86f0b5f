import { Schema } from "effect"
import { InputType } from "./InputType.ts"

export const VariableFacts = Schema.Struct({
  name: Schema.String,
  type: InputType,
  hasDefault: Schema.Boolean,
  required: Schema.Boolean,
  sensitive: Schema.Boolean,
  ephemeral: Schema.Boolean,
  /** True if the type is exactly `map(string)`; absent if unknown. */
  mapOfStrings: Schema.optionalKey(Schema.Boolean)
})
export type VariableFacts = typeof VariableFacts.Type

export const OutputFacts = Schema.Struct({
  name: Schema.String,
  sensitive: Schema.Boolean,
  ephemeral: Schema.Boolean
})
export type OutputFacts = typeof OutputFacts.Type

/**
 * The basis for compiling a configuration: a report about a module of a snapshot, and the digest of the manifest (`sha256:` and
 * 64 hexadecimal digits; absent if the snapshot has none).
 */
export const InstallPins = Schema.Struct({
  sourceSnapshotId: Schema.String,
  compatibilityReportId: Schema.String,
  modulePath: Schema.String,
  manifestDigest: Schema.optionalKey(Schema.String)
})
export type InstallPins = typeof InstallPins.Type

/** Facts about a module from a compatibility report, and the evidence for that report. */
export const ModuleFacts = Schema.Struct({
  pins: InstallPins,
  variables: Schema.Array(VariableFacts),
  outputs: Schema.Array(OutputFacts)
})
export type ModuleFacts = typeof ModuleFacts.Type
