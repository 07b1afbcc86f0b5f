import { Schema } from "effect"

/** Reasons for refusing a document. `syntax` covers everything that RFC 8259 does not allow, including an empty document. */
export const JsonRefusalReason = Schema.Literals([
  "too_large",
  "byte_order_mark",
  "invalid_utf8",
  "syntax",
  "too_deep",
  "too_many_nodes",
  "key_too_long",
  "string_too_long",
  "duplicate_key",
  "lone_surrogate",
  "number_out_of_range",
  "number_rounded"
])
export type JsonRefusalReason = typeof JsonRefusalReason.Type

/** A position in a document, both numbers counted from 1; `column` counts UTF-16 units. */
export const JsonPosition = Schema.Struct({ line: Schema.Int, column: Schema.Int })
export type JsonPosition = typeof JsonPosition.Type

/**
 * A refused document. `position` is absent where no single place is at fault. Neither the message nor any other field repeats
 * the document.
 */
export class JsonRefusal extends Schema.TaggedError<JsonRefusal>()("JsonRefusal", {
  reason: JsonRefusalReason,
  message: Schema.String,
  position: Schema.optionalKey(JsonPosition)
}) {}
