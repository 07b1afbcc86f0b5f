import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { DiffersFrom } from "../../../schema/records/CarryOver.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { ConsumedOutput } from "../consumption/ConsumedOutputs.ts"
import { PlanDetailsJson, RunRow } from "./RunRow.ts"

export const ConsumedOutputsJson = jsonText(Schema.Array(ConsumedOutput))

/** A digest of the credentials that an agent supplied. If the digest is absent, the credentials cannot be compared. */
export const ProvidedMarksJson = jsonText(
  Schema.Array(Schema.Struct({ name: Schema.String, mark: Schema.optionalKey(Schema.String) }))
)

const AuthorAddressesJson = jsonText(Schema.Array(Schema.String))

/**
 * Inputs of a plan that the columns of its Run do not contain. Other plans have these inputs in their plan file, but a
 * speculative plan has no plan file because nobody applies it. A plan of the lane that svc compares again after a merge has
 * both.
 */
export const ChangeBasisRow = table("change_bases", {
  run_id: RunId,
  consumed_outputs: ConsumedOutputsJson,
  /** The values that the host application provides, as canonical JSON without secrets. */
  deliveries: Schema.String,
  provided: ProvidedMarksJson,
  /** The addresses of the authors of every commit between the base and the head; `NULL` if they could not be read. */
  commit_authors: Schema.NullOr(AuthorAddressesJson)
})
export type ChangeBasisRow = RowOf<typeof ChangeBasisRow.columns>

/** Saves the inputs. Call it in the transaction that ends the speculative plan. */
export const saveChangeBasis = Effect.fn("saveChangeBasis")(function* (row: ChangeBasisRow) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO change_bases ${ChangeBasisRow.values(sql, row)} ON CONFLICT DO NOTHING`
}, Effect.orDie)

export const changeBasis = Effect.fn("changeBasis")(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* ChangeBasisRow.rows(sql)`SELECT * FROM change_bases WHERE run_id = ${runId}`
  return row
}, Effect.orDie)

/** Returns the addresses of the authors between the base and the head, or `undefined` if they are unknown. */
export const addressesBetween = (
  row: Pick<ChangeBasisRow, "commit_authors"> | undefined
): ReadonlyArray<string> | undefined =>
  row === undefined || row.commit_authors === null ? undefined : AuthorAddressesJson.read(row.commit_authors)

/** Returns the authors of the commits that a speculative plan covers, or `undefined` if they are unknown. */
export const changeAuthors = Effect.fn("changeAuthors")(function* (runId: RunId) {
  return addressesBetween(yield* changeBasis(runId))
})

export const authorAddresses = AuthorAddressesJson.write

/**
 * Records how a plan that waits for approval differs from an approved change. Does nothing if the plan has been decided or already
 * shows a difference. Runs in the caller's transaction.
 */
export const recordDifference = Effect.fn("recordDifference")(function* (id: RunId, differsFrom: DiffersFrom) {
  const sql = yield* SqlClient.SqlClient
  const [plan] = yield* RunRow.some(sql, "plan_details")`SELECT plan_details FROM runs
    WHERE id = ${id} AND status = 'waiting_approval'`
  const details = PlanDetailsJson.read(plan?.plan_details ?? "{}")
  if (plan === undefined || details.differsFrom !== undefined) return
  const plan_details = PlanDetailsJson.write({ ...details, differsFrom })
  yield* sql`UPDATE runs SET ${RunRow.changes(sql, { plan_details })} WHERE id = ${id}`
}, Effect.orDie)
