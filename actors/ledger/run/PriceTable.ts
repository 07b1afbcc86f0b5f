import { Context, Schema } from "effect"

const amount = Schema.Finite.check(
  Schema.isGreaterThanOrEqualTo(0),
  Schema.isLessThanOrEqualTo(1_000_000_000, { description: "an amount for a month" })
)

/**
 * Monthly cost of one resource of a type. `when` narrows the price to resources whose top-level attributes have these values; of
 * the matching prices, the one with the most attributes applies, and on a tie the first.
 */
export const Price = Schema.Struct({
  type: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9_]{0,127}$/, { description: "a resource type" })),
  when: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))),
  monthly: amount
})
export type Price = typeof Price.Type

/** The operator's prices, in one currency (ISO 4217). */
export const PriceTable = Schema.Struct({
  currency: Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/, { description: "a currency such as USD" })),
  items: Schema.Array(Price).check(Schema.isMaxLength(10_000))
})
export type PriceTable = typeof PriceTable.Type

/**
 * This server's prices. None by default, in which case there is no estimate. Read at the point of use, since a reload changes
 * them.
 */
export const Prices = Context.Reference<{ readonly table: PriceTable | undefined }>("svc/actors/ledger/run/Prices", {
  defaultValue: () => ({ table: undefined })
})
