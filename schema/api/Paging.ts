import { Schema, SchemaTransformation } from "effect"

/** `limit` of a list: a whole number from 1 to 100, written in plain decimal digits. */
export const PageLimit = Schema.String.check(
  Schema.isPattern(/^[1-9][0-9]{0,2}$/, { description: "a whole number from 1 to 100" })
).pipe(
  Schema.decodeTo(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
    SchemaTransformation.transform({ decode: (text) => Number(text), encode: (limit) => String(limit) })
  )
)

export const defaultPageLimit = 50

/** Query of every list: `limit` (1..100, default 50) and the opaque `cursor` of the previous page. */
export const pageQuery = {
  limit: Schema.optionalKey(PageLimit),
  cursor: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2048)))
}

/** `after` of a sequence: the last sequence number that the reader has. */
export const AfterSequence = Schema.String.check(
  Schema.isPattern(/^(?:0|[1-9][0-9]{0,14})$/, { description: "a whole number" })
).pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transform({ decode: (text) => Number(text), encode: (after) => String(after) })
  )
)

/** Query of an event or log sequence: `after` (default 0) and `limit` (1..1000, default 500). */
export const sequenceQuery = {
  after: Schema.optionalKey(AfterSequence),
  limit: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[1-9][0-9]{0,3}$/, { description: "a whole number from 1 to 1000" })).pipe(
      Schema.decodeTo(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
        SchemaTransformation.transform({ decode: (text) => Number(text), encode: (limit) => String(limit) })
      )
    )
  )
}

/** The header that makes a create repeatable without a second effect (specification, Limits). */
export const idempotencyHeaders = { "idempotency-key": Schema.optionalKey(Schema.String) }

export const nextCursor = { nextCursor: Schema.optionalKey(Schema.String) }
