import { Schema } from "effect"
import { InputType } from "./InputType.ts"
import { bilingualText, presentationText, token, VariableName } from "./TextRules.ts"

/** The origin of an input's value. */
export const InputSourceKind = Schema.Literals([
  "user",
  "capsule_name",
  "workspace_scoped_capsule_name",
  "module_default"
])
export type InputSourceKind = typeof InputSourceKind.Type

export const InputRole = Schema.Literals(["service_name", "initial_secret"])
export type InputRole = typeof InputRole.Type

export const Label = bilingualText(160)
export type Label = typeof Label.Type

/**
 * Describes how to present one OpenTofu variable. The module must declare the variable, which the compatibility report verifies.
 */
export const InputDeclaration = Schema.Struct({
  name: VariableName,
  source: Schema.Struct({ kind: InputSourceKind }),
  label: Label,
  role: Schema.optionalKey(InputRole),
  type: Schema.optionalKey(InputType),
  format: Schema.optionalKey(token(64)),
  required: Schema.optionalKey(Schema.Boolean),
  helper: Schema.optionalKey(bilingualText(2000)),
  placeholder: Schema.optionalKey(presentationText(256)),
  advanced: Schema.optionalKey(Schema.Boolean),
  secret: Schema.optionalKey(Schema.Boolean)
})
export type InputDeclaration = typeof InputDeclaration.Type
