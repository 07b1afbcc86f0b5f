import { Context, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../Identity.ts"
import { type BuildColumns, buildColumns, type StoredBuild, storedBuild } from "../capsule/BuildArchives.ts"
import { Vault } from "../vault/Vault.ts"

/** A saved plan as an apply needs it. The file holds secrets in the clear and is sealed at rest. */
export interface SavedPlan {
  readonly planFile: Redacted.Redacted<Uint8Array>
  /** Empty when the module uses no installed provider. */
  readonly lockText: string
  /** What the source build of the plan made; the apply is made with exactly that. */
  readonly build?: StoredBuild | undefined
}

interface PlanRow extends BuildColumns {
  readonly plan_file: string
  readonly lock_text: string
}

const place = (workspaceId: string, runId: string) => ({
  table: "run_plans",
  column: "plan_file",
  workspaceId,
  rowId: runId
})

/** The saved plan of each reviewable Plan Run. It is deleted when it was used, superseded or has expired. */
export class RunPlans extends Context.Service<
  RunPlans,
  {
    /** In the caller's transaction. */
    readonly save: (workspaceId: string, runId: string, plan: SavedPlan) => Effect.Effect<void>
    readonly load: (workspaceId: string, runId: string) => Effect.Effect<SavedPlan | undefined>
    readonly drop: (runId: string) => Effect.Effect<void>
  }
>()("svc/actors/run/RunPlans") {
  static readonly layer = Layer.effect(
    RunPlans,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      return RunPlans.of({
        save: Effect.fn("RunPlans.save")(function* (workspaceId: string, runId: string, plan: SavedPlan) {
          yield* sql`INSERT INTO run_plans ${sql.insert({
            run_id: runId,
            plan_file: yield* vault.seal(place(workspaceId, runId), plan.planFile),
            lock_text: plan.lockText,
            ...buildColumns(plan.build),
            created_at: yield* now
          })}`
        }, Effect.orDie),
        load: Effect.fn("RunPlans.load")(function* (workspaceId: string, runId: string) {
          const rows = yield* sql<PlanRow>`
            SELECT plan_file, lock_text, build_digest, build_size_bytes FROM run_plans WHERE run_id = ${runId}`
          const row = rows[0]
          if (row === undefined) return undefined
          return {
            planFile: yield* vault.open(place(workspaceId, runId), row.plan_file),
            lockText: row.lock_text,
            build: storedBuild(row)
          }
        }, Effect.orDie),
        drop: (runId) => sql`DELETE FROM run_plans WHERE run_id = ${runId}`.pipe(Effect.asVoid, Effect.orDie)
      })
    })
  )
}
