import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { failedPrecondition } from "../../schema/errors/ApiError.ts"
import { type RunRow, toRun } from "../run/RunRow.ts"
import type { GuardedCapsuleRow } from "../authority/CapsuleRow.ts"
import { StateVersionRow } from "../state/StateVersionRow.ts"

/** The last Run that decided over the real infrastructure. */
const decisiveRun = Effect.fnUntraced(function* (capsuleId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE capsule_id = ${capsuleId}
    AND type IN ('apply', 'destroy_apply', 'restore') AND status IN ('succeeded', 'failed', 'cancelled')
    ORDER BY finished_at DESC, id DESC LIMIT 1`)
  return rows[0]
})

/** The codes with which an apply ends whose tool succeeded and whose checks did not. */
const lifecycleCodes: ReadonlySet<string> = new Set(["lifecycle_failed", "lifecycle_interrupted"])

const mostSuccessors = 1_000

/** How many times the configuration was succeeded since the Run; `undefined` when its own is not among the predecessors. */
const successionsSince = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, run: RunRow) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql<{ id: string; steps: number }>`
    WITH RECURSIVE line (id, predecessor_id, steps) AS (
      SELECT id, predecessor_id, 0 FROM install_configs WHERE id = ${capsule.install_config_id}
      UNION ALL SELECT i.id, i.predecessor_id, line.steps + 1 FROM install_configs i
        JOIN line ON i.id = line.predecessor_id WHERE line.steps < ${mostSuccessors}
    ) SELECT id, steps FROM line WHERE id = ${run.install_config_id}`)
  return rows[0]?.steps
})

/** What the records of the Run and of the Capsule have to say alike, as the first that differs. */
const drift = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, run: RunRow) {
  const sql = yield* SqlClient.SqlClient
  const [version] = yield* Effect.orDie(
    StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE id = ${capsule.current_state_version_id}`
  )
  const isItsState =
    version !== undefined &&
    version.id === run.state_version_id &&
    version.created_by_run_id === run.id &&
    version.generation === capsule.current_state_generation &&
    version.install_config_id === run.install_config_id
  if (!isItsState) return "its StateVersion is not the Capsule's current one"
  if (version.partial === 1) return "its StateVersion is partial"
  const [plan] = yield* Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE id = ${run.plan_run_id}`)
  if (plan?.used_by_run_id !== run.id || plan.plan_digest !== run.plan_digest) {
    return "its plan was not used by it alone"
  }
  const steps = yield* successionsSince(capsule, run)
  const epoch = run.execution_authority_epoch ?? 0
  return steps === undefined || capsule.execution_authority_epoch !== epoch + steps
    ? "the Capsule's authority has moved in another way than by its configurations"
    : undefined
})

/** Why a Run is not the one case in which a Capsule in error is re-adopted: the tool succeeded, and only a check after it did not. */
const recoveryProblem = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, run: RunRow) {
  const sql = yield* SqlClient.SqlClient
  if (capsule.status !== "error") return `the Capsule is ${capsule.status}`
  if (run.type !== "apply") return `the last Run that decided over its infrastructure is a ${run.type}`
  if (run.status !== "failed") return `the last apply is ${run.status}`
  if (run.provider_apply_succeeded !== 1) return "it is not certain that the tool of the last apply succeeded"
  const { possiblyCreated = [], postApply = [] } = toRun(run)
  const isOnlyChecks = lifecycleCodes.has(run.error_code ?? "") && postApply.some(({ status }) => status !== "passed")
  if (!isOnlyChecks) return "the last apply failed in another way than by a check after it"
  if (possiblyCreated.length > 0) return "the last apply may have created more than its state holds"
  const restored = yield* Effect.orDie(
    sql`SELECT 1 AS one FROM installation WHERE restored_at IS NOT NULL AND restored_at >= ${run.finished_at ?? ""}`
  )
  if (restored.length > 0)
    return "the installation was restored from a backup since, and nobody knows what came after it"
  return yield* drift(capsule, run)
})

/**
 * Safe runtime evidence, no decisive Run, or the narrow recovery; everything else is ambiguous and refused (specification,
 * Transitions).
 */
export const checkEvidence = Effect.fn("Capsule.reAdoptionEvidence")(function* (capsule: GuardedCapsuleRow) {
  if (capsule.runtime_safety === "safe") return
  const decisive = yield* decisiveRun(capsule.id)
  if (decisive === undefined) return
  const problem = yield* recoveryProblem(capsule, decisive)
  if (problem === undefined) return
  return yield* failedPrecondition(
    `The runtime evidence of the last apply is not safe: ${problem}. Plan and apply the Capsule until it is, then re-adopt.`
  )
})
