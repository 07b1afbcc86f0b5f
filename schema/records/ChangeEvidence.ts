import { Schema } from "effect"

/**
 * The references in an attribute's expression or, if no attribute is given, in the expression that sets the number of
 * instances. References are followed through modules. Contains no values.
 * - `inputs`: inputs of the root module
 * - `resources`: addresses in the configuration, without instance keys; data sources have `data.` after their module
 * - `partial`: the expression also refers to something that the tool does not describe, such as local values
 * - `literal`: the expression is a literal and refers to nothing
 */
export class ChangeReferences extends Schema.Opaque<ChangeReferences>()(
  Schema.Struct({
    attribute: Schema.optionalKey(Schema.String),
    inputs: Schema.optionalKey(Schema.Array(Schema.String)),
    resources: Schema.optionalKey(Schema.Array(Schema.String)),
    partial: Schema.optionalKey(Schema.Literal(true)),
    literal: Schema.optionalKey(Schema.Literal(true))
  }).annotate({ identifier: "ChangeReferences" })
) {}

/** An input whose configured value differs from the last apply. */
export class InputChange extends Schema.Opaque<InputChange>()(
  Schema.Struct({
    input: Schema.String,
    change: Schema.Literals(["added", "changed", "removed"])
  }).annotate({ identifier: "InputChange" })
) {}
