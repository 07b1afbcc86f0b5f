import { Schema } from "effect"

/**
 * Reasons for rejecting a document. `syntax` covers everything that RFC 8259 does not allow, including an empty document.
 */
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

/** A position in a document. Lines and columns start at 1, and columns count UTF-16 units. */
export const JsonPosition = Schema.Struct({ line: Schema.Int, column: Schema.Int })
export type JsonPosition = typeof JsonPosition.Type

/**
 * A document was rejected. `position` is absent if the problem has no single position. No field contains text of the
 * document.
 */
export class JsonRefusal extends Schema.TaggedError<JsonRefusal>()("JsonRefusal", {
  reason: JsonRefusalReason,
  message: Schema.String,
  position: Schema.optionalKey(JsonPosition)
}) {}
