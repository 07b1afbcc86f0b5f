import { Schema } from "effect"
import { InputType } from "../../schema/manifest/InputType.ts"
import { Finding } from "../../schema/records/CompatibilityReport.ts"
import { ProviderPackage, ProviderRequirement } from "../../schema/records/Provider.ts"
import { ToolIdentity } from "../../schema/records/Run.ts"

/** A line in a file of the tree, counted from 1. */
export const SourceLocation = Schema.Struct({ path: Schema.String, line: Schema.Int })
export type SourceLocation = typeof SourceLocation.Type

/**
 * A declared input.
 *
 * - `type`: the type for a form; everything except string, number and bool is `json`
 * - `typeExpression`: the constraint as written; `any` if there is none
 * - `default`: absent if it is not literal, contains a number that a double cannot represent, or is hidden because the variable
 *   is sensitive or ephemeral
 * - `defaultJson`: the same default as exact JSON text, with numbers in full precision
 */
export const ScannedVariable = Schema.Struct({
  name: Schema.String,
  type: InputType,
  typeExpression: Schema.String,
  required: Schema.Boolean,
  hasDefault: Schema.Boolean,
  default: Schema.optionalKey(Schema.Json),
  defaultJson: Schema.optionalKey(Schema.String),
  sensitive: Schema.Boolean,
  ephemeral: Schema.Boolean,
  nullable: Schema.Boolean,
  description: Schema.optionalKey(Schema.String),
  location: SourceLocation
})
export type ScannedVariable = typeof ScannedVariable.Type

export const ScannedOutput = Schema.Struct({
  name: Schema.String,
  sensitive: Schema.Boolean,
  ephemeral: Schema.Boolean,
  description: Schema.optionalKey(Schema.String),
  location: SourceLocation
})
export type ScannedOutput = typeof ScannedOutput.Type

/**
 * A module call that the scanned module itself contains. `source` never contains credentials. `path` is present for a local
 * module in the tree.
 */
export const ModuleCall = Schema.Struct({
  name: Schema.String,
  source: Schema.String,
  path: Schema.optionalKey(Schema.String),
  location: SourceLocation
})
export type ModuleCall = typeof ModuleCall.Type

/**
 * A call to a local module, as in the tool's module manifest.
 *
 * - `key`: names of the calls from the root down, joined with dots
 * - `source`: the source, as written
 * - `dir`: folder relative to the scanned module
 * - `path`: folder relative to the tree
 */
export const LocalModuleCall = Schema.Struct({
  key: Schema.String,
  source: Schema.String,
  dir: Schema.String,
  path: Schema.String
})
export type LocalModuleCall = typeof LocalModuleCall.Type

/**
 * A feature that only some tools support, with the first versions that support it. The versions are `null` for a tool
 * without the feature, and an empty list if every version has the feature.
 */
export const ToolConstraint = Schema.Struct({
  what: Schema.String,
  opentofu: Schema.NullOr(Schema.Array(Schema.String)),
  terraform: Schema.NullOr(Schema.Array(Schema.String)),
  location: SourceLocation
})
export type ToolConstraint = typeof ToolConstraint.Type

/**
 * Managed resources that a module declares, and its `moved` and `removed` blocks. Addresses contain no instance keys, except
 * in `moved` and `removed` blocks.
 */
export const ModuleAddresses = Schema.Struct({
  declared: Schema.Array(Schema.String),
  moved: Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String })),
  removed: Schema.Array(Schema.String)
})
export type ModuleAddresses = typeof ModuleAddresses.Type

/**
 * The verdict on a module and everything it reaches. An unsupported module never has partial lists: it has no provider packages,
 * provider requirements or local modules, and its findings of severity `error` explain why.
 *
 * - `path`: `.` or canonical path in the tree
 * - `providerPackages`: the packages of all reachable modules, sorted by source
 * - `rootProviderRequirements`: the provider configurations that the module itself uses, and the default configurations that its
 *   child modules inherit from it, sorted
 * - `inheritedProviders`: the addresses in `rootProviderRequirements` for which the module itself has no local name; absent
 *   if there are none
 * - `requiredVersion`: constraints on the tool from all reachable modules, sorted
 * - `addresses`: the addresses of the managed resources in all reachable modules; present only in the scan that a
 *   compatibility report stores
 * - `readAs`: the tool whose files were read; absent if every tool reads the same files
 * - `toolDemands`: the constraints with their locations, and other features of the reachable modules that only some tools support
 */
export const ScannedModule = Schema.Struct({
  path: Schema.String,
  status: Schema.Literals(["supported", "unsupported"]),
  variables: Schema.Array(ScannedVariable),
  outputs: Schema.Array(ScannedOutput),
  providerPackages: Schema.Array(ProviderPackage),
  rootProviderRequirements: Schema.Array(ProviderRequirement),
  inheritedProviders: Schema.optionalKey(Schema.Array(Schema.String)),
  moduleCalls: Schema.Array(ModuleCall),
  localModules: Schema.Array(LocalModuleCall),
  requiredVersion: Schema.Array(Schema.String),
  readAs: Schema.optionalKey(ToolIdentity.fields.name),
  toolDemands: Schema.optionalKey(Schema.Array(ToolConstraint)),
  addresses: Schema.optionalKey(ModuleAddresses),
  findings: Schema.Array(Finding)
})
export type ScannedModule = typeof ScannedModule.Type

/** All modules in a tree, sorted by path. */
export const TreeScan = Schema.Struct({ modules: Schema.Array(ScannedModule) })
export type TreeScan = typeof TreeScan.Type
