import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Finding } from "../../schema/records/CompatibilityReport.ts"
import { nextActionOf, RevisionPlan, type RevisionPlanPhase } from "../../schema/records/InstallPlan.ts"
import { now } from "../Identity.ts"
import { present } from "../run/RunRow.ts"

export interface RevisionPlanRow {
  readonly id: string
  readonly workspace_id: string
  readonly capsule_id: string
  readonly ref: string
  readonly phase: RevisionPlanPhase
  readonly actor: string
  readonly execution_authority_epoch: number
  readonly sync_run_id: string | null
  readonly check_run_id: string | null
  readonly source_snapshot_id: string | null
  readonly compatibility_report_id: string | null
  readonly plan_run_id: string | null
  readonly diagnostics: string
  readonly created_at: string
  readonly updated_at: string
}

const decodePlan = Schema.decodeUnknownSync(RevisionPlan)
const decodeDiagnostics = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Finding)))

export const toRevisionPlan = (row: RevisionPlanRow): RevisionPlan =>
  decodePlan({
    id: row.id,
    workspaceId: row.workspace_id,
    capsuleId: row.capsule_id,
    ref: row.ref,
    phase: row.phase,
    nextAction: nextActionOf(row.phase),
    diagnostics: decodeDiagnostics(row.diagnostics),
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

type Columns = Readonly<Record<string, string | number | null>>

/** The only writer of `revision_plans`. Every method works in the caller's transaction. */
export class RevisionPlanStore extends Context.Service<
  RevisionPlanStore,
  {
    readonly insert: (columns: Columns) => Effect.Effect<void>
    readonly find: (id: string) => Effect.Effect<RevisionPlanRow | undefined>
    readonly update: (id: string, columns: Columns) => Effect.Effect<void>
    readonly fail: (id: string, diagnostics: ReadonlyArray<Finding>) => Effect.Effect<void>
  }
>()("svc/actors/revision-plan/RevisionPlanStore") {
  static readonly layer = Layer.effect(
    RevisionPlanStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const update = Effect.fnUntraced(function* (id: string, columns: Columns) {
        yield* sql`UPDATE revision_plans SET ${sql.update({ ...columns, updated_at: yield* now })} WHERE id = ${id}`
      }, Effect.orDie)
      return RevisionPlanStore.of({
        insert: Effect.fnUntraced(function* (columns: Columns) {
          const at = yield* now
          yield* sql`INSERT INTO revision_plans ${sql.insert({ ...columns, created_at: at, updated_at: at })}`
        }, Effect.orDie),
        find: (id) =>
          sql<RevisionPlanRow>`SELECT * FROM revision_plans WHERE id = ${id}`.pipe(
            Effect.map((rows) => rows[0]),
            Effect.orDie
          ),
        update,
        fail: (id, diagnostics) => update(id, { phase: "failed", diagnostics: JSON.stringify(diagnostics) })
      })
    })
  )
}
