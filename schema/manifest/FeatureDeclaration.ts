import { Schema } from "effect"
import { itemsBetween, lengthBetween, matches, uniqueStrings } from "./FieldRule.ts"
import { Label } from "./InputDeclaration.ts"
import { VariableName } from "./TextRules.ts"

/** A group of user inputs in the form. The group has no effect on providers, resources or lifecycle. */
export const FeatureDeclaration = Schema.Struct({
  id: Schema.String.check(lengthBetween(1, 96), matches(/^[a-z0-9](?:[a-z0-9._-]{0,94}[a-z0-9])?$/)),
  optional: Schema.Boolean,
  label: Label,
  inputs: Schema.Array(VariableName).check(itemsBetween(1, 128), uniqueStrings)
})
export type FeatureDeclaration = typeof FeatureDeclaration.Type
