import { Schema } from "effect"
import { InputType } from "./InputType.ts"

export const VariableFacts = Schema.Struct({
  name: Schema.String,
  type: InputType,
  hasDefault: Schema.Boolean,
  required: Schema.Boolean,
  sensitive: Schema.Boolean,
  ephemeral: Schema.Boolean,
  /** True if the type is exactly `map(string)`; absent when nothing proves it. */
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
 * The evidence that a configuration is compiled from: one report on one module of one snapshot, and the manifest, identified by
 * its digest (`sha256:` and 64 hex digits; absent when the snapshot has none).
 */
export const InstallPins = Schema.Struct({
  sourceSnapshotId: Schema.String,
  compatibilityReportId: Schema.String,
  modulePath: Schema.String,
  manifestDigest: Schema.optionalKey(Schema.String)
})
export type InstallPins = typeof InstallPins.Type

/** The facts that a compatibility report proves about one module, and the evidence that the report is based on. */
export const ModuleFacts = Schema.Struct({
  pins: InstallPins,
  variables: Schema.Array(VariableFacts),
  outputs: Schema.Array(OutputFacts)
})
export type ModuleFacts = typeof ModuleFacts.Type
