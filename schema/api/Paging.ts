import { Schema } from "effect"
import { wholeNumber } from "./WholeNumber.ts"

export const defaultPageLimit = 50

/** Query parameters of every list: `limit` (1..100, default 50) and the opaque `cursor` of the previous page. */
export const pageQuery = {
  limit: Schema.optionalKey(wholeNumber(1, 100)),
  cursor: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2048)))
}

/** The sequence number of the last entry that the reader has received. */
export const AfterSequence = wholeNumber(0, 999_999_999_999_999)

/** Query parameters of an event or log sequence: `after` (default 0) and `limit` (1..1000, default 500). */
export const sequenceQuery = {
  after: Schema.optionalKey(AfterSequence),
  limit: Schema.optionalKey(wholeNumber(1, 1000))
}

export const nextCursor = { nextCursor: Schema.optionalKey(Schema.String) }
