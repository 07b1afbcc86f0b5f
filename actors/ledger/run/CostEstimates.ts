import { Array as Arr, Context, Option, Schema } from "effect"
import type { CostEstimate, CostItem } from "../../../schema/records/CostEstimate.ts"
import type { ResourceChange } from "../../../schema/records/PlanDetails.ts"
import type { Run } from "../../../schema/records/Run.ts"

const amount = Schema.Finite.check(
  Schema.isGreaterThanOrEqualTo(0),
  Schema.isLessThanOrEqualTo(1_000_000_000, { description: "an amount for a month" })
)

/**
 * The monthly cost of one resource of a type. `when` restricts the price to resources with these top-level attribute values.
 * If several prices match, the price with the most attributes applies; if several have equally many, the first of them
 * applies.
 */
const Price = Schema.Struct({
  type: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9_]{0,127}$/, { description: "a resource type" })),
  when: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))),
  monthly: amount
})
type Price = typeof Price.Type

/** The operator's price list, in one currency (ISO 4217). */
export const PriceTable = Schema.Struct({
  currency: Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/, { description: "a currency such as USD" })),
  items: Schema.Array(Price).check(Schema.isMaxLength(10_000))
})
export type PriceTable = typeof PriceTable.Type

/**
 * This server's price list. If there is no price list, there are no estimates. The price list is read each time it is used,
 * because a reload can change it.
 */
export const Prices = Context.Reference<{ readonly table: PriceTable | undefined }>("svc/actors/ledger/run/Prices", {
  defaultValue: () => ({ table: undefined })
})

type Side = "before" | "after"
/**
 * `priceless`: no price matches the resource. `undecided`: whether a price matches depends on a value that the review does
 * not contain.
 */
type Verdict = number | "priceless" | "undecided"

const has = (change: ResourceChange, ...actions: ReadonlyArray<string>) =>
  actions.every((action) => change.actions.includes(action))

const fits = (change: ResourceChange, side: Side, name: string, wanted: unknown): boolean | undefined => {
  const attribute = change.changedAttributes.find((candidate) => candidate.name === name)
  // A review lists only the changed attributes of an update, but all attributes of a create or delete.
  if (attribute === undefined) return has(change, "create") !== has(change, "delete") ? false : undefined
  if (attribute.sensitive === true || (side === "after" && attribute.unknown === true)) return undefined
  return attribute[side] === wanted
}

const priceOf = (prices: ReadonlyArray<Price>, change: ResourceChange, side: Side): Verdict => {
  for (const { monthly, when = {} } of prices) {
    const verdicts = Object.entries(when).map(([name, wanted]) => fits(change, side, name, wanted))
    if (verdicts.includes(false)) continue
    return verdicts.includes(undefined) ? "undecided" : monthly
  }
  return "priceless"
}

// Rounds the amount to remove binary floating-point errors, because prices have few decimals.
const rounded = (value: number) => Math.round(value * 1e6) / 1e6

const staysAsItCosts = (prices: ReadonlyArray<Price>, change: ResourceChange) => {
  if (!has(change, "update") && !has(change, "create") && !has(change, "delete")) return true
  const decisive = new Set(prices.flatMap(({ when = {} }) => Object.keys(when)))
  const exists = has(change, "update") || has(change, "create", "delete")
  return exists && !change.changedAttributes.some(({ name }) => decisive.has(name))
}

const itemOf = (prices: ReadonlyArray<Price>, change: ResourceChange): CostItem | Exclude<Verdict, number> => {
  const item = { address: change.address, type: change.type, actions: change.actions }
  if (prices.length === 0) return "priceless"
  if (staysAsItCosts(prices, change)) return { ...item, monthlyDelta: 0 }
  const isNew = has(change, "create") && !has(change, "delete")
  const isGone = has(change, "delete") && !has(change, "create")
  const before = isNew ? 0 : priceOf(prices, change, "before")
  const after = isGone ? 0 : priceOf(prices, change, "after")
  if (before === "undecided" || after === "undecided") return "undecided"
  if (before === "priceless" || after === "priceless") return "priceless"
  return {
    ...item,
    ...(isNew ? {} : { monthlyBefore: before }),
    ...(isGone ? {} : { monthlyAfter: after }),
    monthlyDelta: rounded(after - before)
  }
}

const missing = (types: ReadonlyArray<string>, why: string) =>
  Object.entries(Arr.groupBy(types, (type) => type)).map(([type, { length }]) => `${type} (${length}): ${why}`)

/** Estimates how a plan changes the monthly bill. The same plan and prices always give the same estimate. */
export const estimateCost = (table: PriceTable | undefined, run: Pick<Run, "id" | "resourceChanges">): CostEstimate => {
  const none = (reasons: ReadonlyArray<string>): CostEstimate => ({
    runId: run.id,
    status: "not_available",
    items: [],
    reasons
  })
  if (table === undefined) return none(["The operator of this server has given no price table."])
  if (run.resourceChanges === undefined) return none(["This Run has no plan to estimate."])
  const managed = run.resourceChanges.filter(({ mode }) => mode === "managed")
  const pricesOf = (type: string) =>
    table.items
      .filter((price) => price.type === type)
      .toSorted((left, right) => Object.keys(right.when ?? {}).length - Object.keys(left.when ?? {}).length)
  const outcomes = managed.map((change) => ({ type: change.type, item: itemOf(pricesOf(change.type), change) }))
  const typesOf = (verdict: Verdict) => outcomes.filter(({ item }) => item === verdict).map(({ type }) => type)
  const reasons = [
    ...missing(typesOf("priceless"), "the price table has no price."),
    ...missing(typesOf("undecided"), "its price depends on a value that is not known before the apply, or not shown.")
  ]
  const items = Arr.getSomes(
    outcomes.map(({ item }) => (typeof item === "object" ? Option.some(item) : Option.none<CostItem>()))
  )
  if (items.length === 0 && reasons.length > 0) return none(reasons)
  const monthlyDelta = rounded(items.reduce((sum, item) => sum + item.monthlyDelta, 0))
  return { runId: run.id, status: "estimated", currency: table.currency, monthlyDelta, items, reasons }
}
