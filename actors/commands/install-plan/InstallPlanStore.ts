import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import type { InstallPlanId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { now } from "../../base/Identity.ts"
import { StateUploads } from "../../ledger/state/StateUploads.ts"
import { Vault } from "../../base/vault/Vault.ts"
import type { VariableValues } from "../../ledger/configuration/InstallConfigStore.ts"
import { InstallPlanRow, maxDiagnostics } from "./InstallPlanRow.ts"
import { FindingsJson } from "../../ledger/run/CoordinatorSteps.ts"

const place = (workspaceId: WorkspaceId, id: InstallPlanId) => ({
  table: "install_plans",
  column: "private_variables",
  workspaceId,
  rowId: id
})

const ValuesJson = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
const decodeValues = Schema.decodeUnknownEffect(ValuesJson)

/** The only writer of `install_plans`. Every method works in the caller's transaction. */
export class InstallPlanStore extends Context.Service<
  InstallPlanStore,
  {
    readonly insert: (plan: {
      readonly id: InstallPlanId
      readonly workspaceId: WorkspaceId
      readonly request: string
      readonly actor: string
      readonly values: VariableValues
      readonly columns: Readonly<Record<string, string | null>>
    }) => Effect.Effect<void>
    readonly find: (id: InstallPlanId) => Effect.Effect<InstallPlanRow | undefined>
    readonly update: (id: InstallPlanId, columns: Readonly<Record<string, string | null>>) => Effect.Effect<void>
    readonly fail: (id: InstallPlanId, diagnostics: ReadonlyArray<Finding>) => Effect.Effect<void>
    /** Returns the private values, until the coordinator erases them. */
    readonly values: (row: InstallPlanRow) => Effect.Effect<VariableValues>
  }
>()("svc/actors/commands/install-plan/InstallPlanStore") {
  static readonly layer = Layer.effect(
    InstallPlanStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const uploads = yield* StateUploads

      const update = Effect.fnUntraced(function* (id: InstallPlanId, columns: Readonly<Record<string, string | null>>) {
        yield* sql`UPDATE install_plans SET ${InstallPlanRow.changes(sql, { ...columns, updated_at: yield* now })} WHERE id = ${id}`
      }, Effect.orDie)

      return InstallPlanStore.of({
        insert: Effect.fnUntraced(function* (plan) {
          const at = yield* now
          const hasValues = Object.keys(plan.values).length > 0
          yield* sql`INSERT INTO install_plans ${InstallPlanRow.values(sql, {
            id: plan.id,
            workspace_id: plan.workspaceId,
            phase: "syncing_source",
            request: plan.request,
            private_variables: hasValues
              ? yield* vault.seal(place(plan.workspaceId, plan.id), Redacted.make(JSON.stringify(plan.values)))
              : null,
            actor: plan.actor,
            diagnostics: "[]",
            created_at: at,
            updated_at: at,
            ...plan.columns
          })}`
        }, Effect.orDie),
        find: (id) =>
          InstallPlanRow.rows(sql)`SELECT * FROM install_plans WHERE id = ${id}`.pipe(
            Effect.map((rows) => rows[0]),
            Effect.orDie
          ),
        update,
        // A failed install no longer needs its private values or an upload that no Capsule has taken over, so the values are
        // erased and the upload is released.
        fail: (id, diagnostics) =>
          Effect.andThen(
            update(id, {
              phase: "failed",
              private_variables: null,
              diagnostics: FindingsJson.write(diagnostics.slice(0, maxDiagnostics))
            }),
            uploads.release(id)
          ),
        values: Effect.fnUntraced(function* (row) {
          if (row.private_variables === null) return {}
          const text = yield* vault.openText(place(row.workspace_id, row.id), row.private_variables)
          return yield* decodeValues(Redacted.value(text))
        }, Effect.orDie)
      })
    })
  )
}
