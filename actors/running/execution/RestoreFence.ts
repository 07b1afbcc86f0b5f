import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { holdOf } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { pendingPlan, toRun, RunRow } from "../../ledger/run/RunRow.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import { CapsuleId } from "../../../schema/records/Ids.ts"

const PlannedCapsule = rowShape({ capsule_id: CapsuleId, plans: Schema.Int })

/**
 * The number of records of each kind that a restore revoked, because they may have been used or withdrawn after the backup
 * was made.
 */
export interface RestoreFence {
  /** Plans that were waiting for approval, or that were approved but not applied. */
  readonly plans: number
  /** Applies that were queued or running. */
  readonly applies: number
  /** Capsules whose automatic applies were disabled. */
  readonly automaticApplies: number
}

const reason = "The service was restored from a backup, and this plan may have been applied since. Plan again."

const outcomeUnknown = {
  code: "apply_interrupted",
  message:
    "The service was restored from a backup that was written while this apply was queued or running. What it did after that is not known; check what may have been created, then plan again."
}

/**
 * Voids every plan, approval and automatic apply in a restored database. Applies that ran after the backup was made are
 * missing from the database, and they must not be repeated.
 */
export const fenceRestored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const capsules = yield* CapsuleLedger

  /** Lists every object that the plan creates, because neither a journal nor a state shows which of them exist. */
  const mayExist = Effect.fnUntraced(function* (run: RunRow) {
    const plan = yield* ledger.find(run.plan_run_id)
    const changes = plan === undefined ? [] : (toRun(plan).resourceChanges ?? [])
    return changes.filter(({ actions }) => actions.includes("create")).map(({ address }) => address)
  })

  return yield* Effect.gen(function* () {
    // Skips applies that the next startup settles: an apply with a checkpoint, which becomes the Capsule's partial state, and an
    // apply whose agent had sent its final state.
    const applies = yield* Effect.orDie(RunRow.rows(
      sql
    )`SELECT * FROM runs WHERE (type IN ('apply', 'destroy_apply') OR (type = 'restore' AND plan_run_id IS NOT NULL))
      AND (status = 'queued' OR (status = 'running' AND id NOT IN (SELECT run_id FROM run_checkpoints)
        AND id NOT IN (SELECT run_id FROM agent_carried_files WHERE kind = 'state')))
      ORDER BY queued_at, id`)
    for (const run of applies) {
      const evidence = { possiblyCreated: yield* mayExist(run) }
      yield* run.status === "queued"
        ? lifecycle.abandon(run, outcomeUnknown, evidence)
        : Effect.orDie(lifecycle.fail(holdOf(run), outcomeUnknown, evidence))
      yield* Effect.orDie(sql`DELETE FROM run_plans WHERE run_id = ${run.plan_run_id ?? ""}`)
      yield* capsules.annotate(run.capsule_id, { status: "error", runtime_safety: "unknown" })
    }
    const planned = yield* Effect.orDie(PlannedCapsule.rows(sql)`SELECT capsule_id, COUNT(*) AS plans
      FROM runs WHERE ${sql.literal(pendingPlan())} GROUP BY capsule_id ORDER BY capsule_id`)
    for (const { capsule_id } of planned) yield* ledger.supersedePlans(capsule_id, reason)
    const automatic = yield* Effect.orDie(CapsuleRow.some(sql, "id")`SELECT id FROM capsules
      WHERE auto_update_apply = 1 AND ${sql.literal(livingCapsule())} ORDER BY id`)
    for (const { id } of automatic) yield* capsules.annotate(id, { auto_update_apply: 0 })
    const compared = yield* Effect.orDie(CapsuleRow.some(sql, "id")`SELECT id FROM capsules
      WHERE drift_status <> 'unknown' AND ${sql.literal(livingCapsule())} ORDER BY id`)
    for (const { id } of compared) yield* capsules.annotate(id, { drift_status: "unknown" })
    const fence: RestoreFence = {
      plans: planned.reduce((sum, { plans }) => sum + plans, 0),
      applies: applies.length,
      automaticApplies: automatic.length
    }
    return fence
  }).pipe(transaction(sql))
}).pipe(Effect.withSpan("fenceRestored"))
