import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { rowShape, type RowOf } from "../../actors/base/database/Table.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { idOrNull } from "../../actors/base/Identity.ts"
import { LeftOverStates } from "../../actors/ledger/state/LeftOverStates.ts"
import { RunCheckpoints } from "../../actors/ledger/state/RunCheckpoints.ts"
import { type ApiError, failedPrecondition, notFound } from "../../schema/errors/ApiError.ts"
import { CapsuleId, LeftOverStateId, RunId } from "../../schema/records/Ids.ts"
import { LeftOverReason } from "../../schema/records/LeftOverState.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"

const KeptLeftOver = rowShape({
  id: LeftOverStateId,
  workspace: Schema.String,
  capsule: Schema.String,
  capsule_id: CapsuleId,
  run_id: RunId,
  reason: LeftOverReason,
  serial: Schema.NullOr(Schema.Int),
  size_bytes: Schema.Int,
  created_at: Timestamp
})
export type KeptLeftOver = RowOf<typeof KeptLeftOver.columns>

export const KeptLeftOvers = Schema.Array(Schema.Struct(KeptLeftOver.columns))

export const DownloadedState = Schema.Struct({
  digest: Schema.String,
  state: Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64)
})
export type DownloadedState = typeof DownloadedState.Type

/** Commands for states that applies left behind and that were not accepted as their Capsules' state. */
export class LeftOverCommands extends Context.Service<
  LeftOverCommands,
  {
    /** States that have been neither adopted nor discarded, newest first. */
    readonly list: Effect.Effect<ReadonlyArray<KeptLeftOver>>
    /**
     * Returns the state in plaintext and records an audit event. Fails with `not_found`, and with `failed_precondition` if the
     * state has been erased.
     */
    readonly download: (id: string) => Effect.Effect<DownloadedState, ApiError>
  }
>()("svc/src/operator/LeftOverCommands") {
  static readonly layer = Layer.effect(
    LeftOverCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const leftOvers = yield* LeftOverStates
      const audit = yield* Audit

      return LeftOverCommands.of({
        list: KeptLeftOver.rows(
          sql
        )`SELECT l.id, w.handle AS workspace, c.name AS capsule, l.capsule_id, l.run_id, l.reason,
          l.serial, l.size_bytes, l.created_at FROM left_over_states l
          JOIN capsules c ON c.id = l.capsule_id JOIN workspaces w ON w.id = l.workspace_id
          WHERE l.state IS NOT NULL ORDER BY l.created_at DESC, l.id DESC`.pipe(Effect.orDie),
        download: Effect.fn("LeftOverCommands.download")(function* (id) {
          const row = yield* leftOvers.find(idOrNull(LeftOverStateId, id))
          if (row === undefined) return yield* notFound("LeftOverState")
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
  ).pipe(Layer.provide(LeftOverStates.layer), Layer.provide(RunCheckpoints.layer))
}
