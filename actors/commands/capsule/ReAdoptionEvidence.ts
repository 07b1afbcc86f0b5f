import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { toRun, RunRow } from "../../ledger/run/RunRow.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { reAdoptionProblem } from "./ReAdoptionProblem.ts"
import { rowShape } from "../../base/database/Table.ts"
import { type CapsuleId, InstallConfigId } from "../../../schema/records/Ids.ts"

/** Finds the last Run that may have changed the infrastructure. */
const decisiveRun = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE capsule_id = ${capsuleId}
    AND type IN ('apply', 'destroy_apply', 'restore') AND status IN ('succeeded', 'failed', 'cancelled')
    ORDER BY finished_at DESC, id DESC LIMIT 1`)
  return rows[0]
})

const mostSuccessors = 1_000

const Succession = rowShape({ id: InstallConfigId, steps: Schema.Int })

/**
 * Returns the number of configuration replacements since the Run, or `undefined` if the Capsule's configuration does not descend
 * from the Run's.
 */
const successionsSince = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, run: RunRow) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(Succession.rows(sql)`
    WITH RECURSIVE line (id, predecessor_id, steps) AS (
      SELECT id, predecessor_id, 0 FROM install_configs WHERE id = ${capsule.install_config_id}
      UNION ALL SELECT i.id, i.predecessor_id, line.steps + 1 FROM install_configs i
        JOIN line ON i.id = line.predecessor_id WHERE line.steps < ${mostSuccessors}
    ) SELECT id, steps FROM line WHERE id = ${run.install_config_id}`)
  return rows[0]?.steps
})

const recordsOf = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, run: RunRow) {
  const sql = yield* SqlClient.SqlClient
  const restored = yield* Effect.orDie(
    sql`SELECT 1 AS one FROM installation WHERE restored_at IS NOT NULL AND restored_at >= ${run.finished_at ?? ""}`
  )
  const [version] = yield* Effect.orDie(
    StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE id = ${capsule.current_state_version_id}`
  )
  const [plan] = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${run.plan_run_id}`)
  const successions = yield* successionsSince(capsule, run)
  return { capsule, run, evidence: toRun(run), restoredSince: restored.length > 0, version, plan, successions }
})

/**
 * Allows a re-adoption if the runtime evidence is safe, if no Run has changed infrastructure, or if `reAdoptionProblem` finds no
 * problem. Refuses everything else as ambiguous (specification, Transitions).
 */
export const checkEvidence = Effect.fn("Capsule.reAdoptionEvidence")(function* (capsule: GuardedCapsuleRow) {
  if (capsule.runtime_safety === "safe") return
  const decisive = yield* decisiveRun(capsule.id)
  if (decisive === undefined) return
  const problem = reAdoptionProblem(yield* recordsOf(capsule, decisive))
  if (problem === undefined) return
  return yield* failedPrecondition(
    `The runtime evidence of the last apply is not safe: ${problem}. Plan and apply the Capsule until it is, then re-adopt.`
  )
})
