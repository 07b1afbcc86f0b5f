import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { rowShape, type RowOf } from "../../actors/base/database/Table.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { idOrNull } from "../../actors/base/Identity.ts"
import { OrphanedStates } from "../../actors/ledger/state/OrphanedStates.ts"
import { RunCheckpoints } from "../../actors/ledger/state/RunCheckpoints.ts"
import { type ApiError, failedPrecondition, notFound } from "../../schema/errors/ApiError.ts"
import { CapsuleId, OrphanedStateId, RunId } from "../../schema/records/Ids.ts"
import { OrphanedStateReason } from "../../schema/records/OrphanedState.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"

const KeptOrphanedState = rowShape({
  id: OrphanedStateId,
  workspace: Schema.String,
  capsule: Schema.String,
  capsule_id: CapsuleId,
  run_id: RunId,
  reason: OrphanedStateReason,
  serial: Schema.NullOr(Schema.Int),
  size_bytes: Schema.Int,
  created_at: Timestamp
})
export type KeptOrphanedState = RowOf<typeof KeptOrphanedState.columns>

export const KeptOrphanedStates = Schema.Array(Schema.Struct(KeptOrphanedState.columns))

export const DownloadedState = Schema.Struct({
  digest: Schema.String,
  state: Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64)
})
export type DownloadedState = typeof DownloadedState.Type

/**
 * Commands for orphaned states, which are states that an apply produced but that were not accepted as the Capsule's state.
 */
export class OrphanedStateCommands extends Context.Service<
  OrphanedStateCommands,
  {
    /** Lists the states that have been neither adopted nor discarded, newest first. */
    readonly list: Effect.Effect<ReadonlyArray<KeptOrphanedState>>
    /**
     * Returns the state in plaintext and records an audit event. Fails with `not_found`, or with `failed_precondition` if
     * the state has been erased.
     */
    readonly download: (id: string) => Effect.Effect<DownloadedState, ApiError>
  }
>()("svc/src/operator/OrphanedStateCommands") {
  static readonly layer = Layer.effect(
    OrphanedStateCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const leftOvers = yield* OrphanedStates
      const audit = yield* Audit

      return OrphanedStateCommands.of({
        list: KeptOrphanedState.rows(
          sql
        )`SELECT l.id, w.handle AS workspace, c.name AS capsule, l.capsule_id, l.run_id, l.reason,
          l.serial, l.size_bytes, l.created_at FROM left_over_states l
          JOIN capsules c ON c.id = l.capsule_id JOIN workspaces w ON w.id = l.workspace_id
          WHERE l.state IS NOT NULL ORDER BY l.created_at DESC, l.id DESC`.pipe(Effect.orDie),
        download: Effect.fn("OrphanedStateCommands.download")(function* (id) {
          const row = yield* leftOvers.find(idOrNull(OrphanedStateId, id))
          if (row === undefined) return yield* notFound("Left-over state")
          const state = yield* leftOvers.open(row)
          if (Option.isNone(state)) {
            return yield* failedPrecondition(
              `The state of ${id} was erased when it was ${row.adopted_at === null ? "discarded" : "adopted"}.`
            )
          }
          yield* audit.append({
            workspaceId: row.workspace_id,
            actor: serviceContext.actor,
            action: "left_over_state.download",
            target: { kind: "left_over_state", id },
            capsuleId: row.capsule_id,
            runId: row.run_id,
            data: { command: "admin left-over-states download", digest: row.digest }
          })
          yield* Effect.logInfo(`Done for an operator: svc admin left-over-states download, ${id}`)
          return { digest: row.digest, state: state.value }
        }, transaction(sql))
      })
    })
  ).pipe(Layer.provide(OrphanedStates.layer), Layer.provide(RunCheckpoints.layer))
}
