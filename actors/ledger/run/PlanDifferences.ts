import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { DiffersFrom } from "../../../schema/records/CarryOver.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { PlanDetailsJson, RunRow } from "./RunRow.ts"

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
