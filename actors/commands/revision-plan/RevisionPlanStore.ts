import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  RevisionPlanId,
  RunId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { nextActionOf, RevisionPlan, RevisionPlanPhase } from "../../../schema/records/InstallPlan.ts"
import { now } from "../../base/Identity.ts"
import { FindingsJson } from "../../ledger/run/CoordinatorSteps.ts"
import { type PlanEnd, readPlanEnd, voidFinding } from "../../ledger/run/PlanEnd.ts"
import { present } from "../../ledger/run/RunRow.ts"
import { type ChangesOf, Flag, type NewRowOf, type RowOf, table } from "../../base/database/Table.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"

const SteppedPhase = Schema.Literals(
  RevisionPlanPhase.literals.filter((phase) => phase !== "applied" && phase !== "superseded")
)

/** Revision plans. */
export const RevisionPlanRow = table(
  "revision_plans",
  {
    id: RevisionPlanId,
    workspace_id: WorkspaceId,
    capsule_id: CapsuleId,
    ref: Schema.String,
    /** True if the plan only shows the changes that the ref would make. */
    speculative: Flag,
    /** The progress of the coordinator's own steps. The outcome of the plan is read from its Run. */
    phase: SteppedPhase,
    actor: Schema.String,
    execution_authority_epoch: Schema.Int,
    sync_run_id: Schema.NullOr(RunId),
    check_run_id: Schema.NullOr(RunId),
    source_snapshot_id: Schema.NullOr(SourceSnapshotId),
    compatibility_report_id: Schema.NullOr(CompatibilityReportId),
    plan_run_id: Schema.NullOr(RunId),
    diagnostics: FindingsJson,
    created_at: Timestamp,
    updated_at: Timestamp
  },
  ["speculative"]
)
export type RevisionPlanRow = RowOf<typeof RevisionPlanRow.columns>

const decodePlan = storedRecord(RevisionPlan)

/**
 * The coordinator is reviewable while its plan is waiting for review or for its apply. Any other outcome of the plan also
 * ends the coordinator.
 */
const endOf = (
  row: RevisionPlanRow,
  plan: PlanEnd | undefined
): { readonly phase: RevisionPlanPhase; readonly diagnostics: ReadonlyArray<Finding> } => {
  const kept = FindingsJson.read(row.diagnostics)
  if (row.phase !== "reviewable" || plan === undefined) return { phase: row.phase, diagnostics: kept }
  if (plan.used_by_run_id !== null) return { phase: "applied", diagnostics: kept }
  const end = voidFinding(plan, `To go on, create a revision plan of ${row.ref} again.`)
  return end === undefined
    ? { phase: row.phase, diagnostics: kept }
    : { phase: "superseded", diagnostics: [...kept, end] }
}

/** Returns the public projection, including the outcome of the plan, which it reads through `sql`. */
export const readRevisionPlan = Effect.fn("readRevisionPlan")(function* (
  sql: SqlClient.SqlClient,
  row: RevisionPlanRow
) {
  return toRevisionPlan(row, yield* readPlanEnd(sql, row.plan_run_id))
})

const toRevisionPlan = (row: RevisionPlanRow, plan: PlanEnd | undefined): RevisionPlan => {
  const { diagnostics, phase } = endOf(row, plan)
  return decodePlan({
    id: row.id,
    workspaceId: row.workspace_id,
    capsuleId: row.capsule_id,
    ref: row.ref,
    ...(row.speculative === 1 ? { speculative: true } : {}),
    phase,
    nextAction: nextActionOf(phase),
    diagnostics,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...present({
      syncRunId: row.sync_run_id,
      compatibilityCheckRunId: row.check_run_id,
      sourceSnapshotId: row.source_snapshot_id,
      compatibilityReportId: row.compatibility_report_id,
      planRunId: row.plan_run_id
    })
  })
}

/** The only writer of `revision_plans`. Every method works in the caller's transaction. */
export class RevisionPlanStore extends Context.Service<
  RevisionPlanStore,
  {
    readonly insert: (
      columns: Omit<NewRowOf<typeof RevisionPlanRow>, "created_at" | "updated_at">
    ) => Effect.Effect<void>
    readonly find: (id: RevisionPlanId) => Effect.Effect<RevisionPlanRow | undefined>
    readonly update: (id: RevisionPlanId, columns: ChangesOf<typeof RevisionPlanRow>) => Effect.Effect<void>
    readonly fail: (id: RevisionPlanId, diagnostics: ReadonlyArray<Finding>) => Effect.Effect<void>
  }
>()("svc/actors/commands/revision-plan/RevisionPlanStore") {
  static readonly layer = Layer.effect(
    RevisionPlanStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const update = Effect.fnUntraced(function* (id: RevisionPlanId, columns: ChangesOf<typeof RevisionPlanRow>) {
        yield* sql`UPDATE revision_plans SET ${RevisionPlanRow.changes(sql, { ...columns, updated_at: yield* now })} WHERE id = ${id}`
      }, Effect.orDie)
      return RevisionPlanStore.of({
        insert: Effect.fnUntraced(function* (columns) {
          const at = yield* now
          yield* sql`INSERT INTO revision_plans ${RevisionPlanRow.values(sql, { ...columns, created_at: at, updated_at: at })}`
        }, Effect.orDie),
        find: (id) =>
          RevisionPlanRow.rows(sql)`SELECT * FROM revision_plans WHERE id = ${id}`.pipe(
            Effect.map((rows) => rows[0]),
            Effect.orDie
          ),
        update,
        fail: (id, diagnostics) => update(id, { phase: "failed", diagnostics: FindingsJson.write(diagnostics) })
      })
    })
  )
}
