import { Schema } from "effect"
import { interfaceValueMaxDepth } from "../json/JsonLimits.ts"
import { exceedsJsonLimits } from "../json/JsonValueBounds.ts"
import { fieldRule, itemsBetween, lengthBetween, matches, propertiesBetween } from "./FieldRule.ts"
import { BindingDelivery, Permissions } from "./RequirementDeclaration.ts"
import { OutputName, token } from "./TextRules.ts"

/** Public JSON of an Interface. Arrays and objects may be nested at most 32 levels deep. */
const PublicJson = Schema.Json.check(
  fieldRule<Schema.Json>({
    code: "value_too_deep",
    expected: `arrays and objects nested at most ${interfaceValueMaxDepth} levels`,
    holds: (value) => exceedsJsonLimits(value, { maxDepth: interfaceValueMaxDepth }) === undefined
  })
)

export const InterfaceName = Schema.String.check(lengthBetween(1, 128), matches(/^[A-Za-z][A-Za-z0-9_.-]{0,127}$/))

/** The public type of an Output. */
export const OutputType = Schema.Literals(["string", "url", "hostname", "number", "boolean", "json"])
export type OutputType = typeof OutputType.Type

export const InterfaceInput = Schema.Union([
  Schema.Struct({ source: Schema.Literal("literal"), value: PublicJson }),
  Schema.Struct({ source: Schema.Literal("output"), outputName: OutputName, outputType: OutputType })
])
export type InterfaceInput = typeof InterfaceInput.Type

const InterfaceInputs = Schema.Record(Schema.String, InterfaceInput).check(
  propertiesBetween(0, 64),
  Schema.isPropertyNames(InterfaceName)
)

export const InterfaceSpec = Schema.Struct({
  type: token(256),
  version: token(256),
  document: PublicJson,
  inputs: Schema.optionalKey(InterfaceInputs),
  access: Schema.Struct({
    visibility: Schema.Literal("workspace"),
    resourceUriInput: Schema.optionalKey(InterfaceName)
  })
})
export type InterfaceSpec = typeof InterfaceSpec.Type

/**
 * Proposes that the person who installs the Capsule may use the Interface. The host decides once, and creates the
 * credentials.
 */
export const BindingRequest = Schema.Struct({
  key: token(128),
  subject: Schema.Struct({ source: Schema.Literal("installing_principal") }),
  permissions: Permissions,
  delivery: BindingDelivery
})
export type BindingRequest = typeof BindingRequest.Type

/** An Interface that the Capsule provides. */
export const InterfaceDeclaration = Schema.Struct({
  key: token(128),
  name: InterfaceName,
  spec: InterfaceSpec,
  bindingRequests: Schema.optionalKey(Schema.Array(BindingRequest).check(itemsBetween(0, 1)))
})
export type InterfaceDeclaration = typeof InterfaceDeclaration.Type
