import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { RunStatus } from "../../../schema/records/Run.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"

/** The outcome of a plan that a coordinator created. `reason` explains why a superseded plan is void. */
const PlanEndRow = rowShape({
  id: RunId,
  status: RunStatus,
  used_by_run_id: Schema.NullOr(RunId),
  reason: Schema.NullOr(Schema.String)
})
export type PlanEnd = RowOf<typeof PlanEndRow.columns>

/** Reads the plan's current status through `sql`. */
export const readPlanEnd = Effect.fn("readPlanEnd")(function* (sql: SqlClient.SqlClient, planRunId: RunId | null) {
  if (planRunId === null) return undefined
  const [plan] = yield* PlanEndRow.rows(sql)`SELECT r.id, r.status, r.used_by_run_id,
      (SELECT json_extract(e.data, '$.reason') FROM run_events e WHERE e.run_id = r.id AND e.kind = 'run.superseded'
        ORDER BY e.seq DESC LIMIT 1) AS reason
    FROM runs r WHERE r.id = ${planRunId}`
  return plan
}, Effect.orDie)

/**
 * Returns the reason why a plan can no longer be applied, or `undefined` if the plan can be applied or has been applied.
 * `goOn` describes what the reader should do next.
 */
export const voidFinding = (plan: PlanEnd | undefined, goOn: string): Finding | undefined => {
  if (plan === undefined || plan.used_by_run_id !== null) return undefined
  switch (plan.status) {
    case "superseded":
    case "cancelled":
    case "expired": {
      const reason = plan.reason ?? `The plan ${plan.id} is ${plan.status}.`
      return { severity: "info", code: `plan_${plan.status}`, message: `${reason} ${goOn}`.trimEnd() }
    }
    default:
      return undefined
  }
}
