import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { changedUnder, type HoldLost, isHeld, type RunHold } from "../run/RunHold.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { RunId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** The sealed form of the last state that a running apply saved. */
export const CheckpointRow = table("run_checkpoints", {
  run_id: RunId,
  state: Schema.String,
  saved_at: Timestamp
})
type CheckpointRow = RowOf<typeof CheckpointRow.columns>

const place = (workspaceId: WorkspaceId, runId: RunId) => ({
  table: "run_checkpoints",
  column: "state",
  workspaceId,
  rowId: runId
})

/** Stores the newest complete state of each running apply, sealed. Recovery uses this state if the run folder is gone. */
export class RunCheckpoints extends Context.Service<
  RunCheckpoints,
  {
    /** Seals a state before the transaction that saves it. */
    readonly prepare: (
      hold: RunHold,
      workspaceId: WorkspaceId,
      state: Redacted.Redacted<Uint8Array>
    ) => Effect.Effect<void>
    readonly save: (
      hold: RunHold,
      workspaceId: WorkspaceId,
      state: Redacted.Redacted<Uint8Array>
    ) => Effect.Effect<void, HoldLost>
    readonly load: (
      workspaceId: WorkspaceId,
      runId: RunId
    ) => Effect.Effect<Option.Option<Redacted.Redacted<Uint8Array>>>
    /**
     * Returns the sealed form of the saved state, or `undefined`. The sealed form differs after each save, even if the state
     * is the same.
     */
    readonly stored: (runId: RunId) => Effect.Effect<string | undefined>
    readonly drop: (runId: RunId) => Effect.Effect<void>
  }
>()("svc/actors/ledger/state/RunCheckpoints") {
  static readonly layer = Layer.effect(
    RunCheckpoints,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const save = Effect.fn("RunCheckpoints.save")(function* (
        hold: RunHold,
        workspaceId: WorkspaceId,
        state: Redacted.Redacted<Uint8Array>
      ) {
        const sealed = yield* vault.seal(place(workspaceId, hold.runId), state)
        const at = yield* now
        const saved = sql`INSERT INTO run_checkpoints (run_id, state, saved_at)
          SELECT id, ${sealed}, ${at} FROM runs WHERE ${isHeld(sql, hold)}
          ON CONFLICT (run_id) DO UPDATE SET state = ${sealed}, saved_at = ${at} RETURNING run_id`
        yield* changedUnder(hold, Effect.orDie(saved))
      })

      const stored = Effect.fnUntraced(function* (runId: RunId) {
        const rows = yield* CheckpointRow.some(sql, "state")`SELECT state FROM run_checkpoints WHERE run_id = ${runId}`
        return rows[0]?.state
      }, Effect.orDie)

      const load = Effect.fn("RunCheckpoints.load")(function* (workspaceId: WorkspaceId, runId: RunId) {
        const state = yield* stored(runId)
        return state === undefined ? Option.none() : yield* vault.openStored(place(workspaceId, runId), state)
      }, Effect.orDie)

      const drop = (runId: RunId) =>
        sql`DELETE FROM run_checkpoints WHERE run_id = ${runId}`.pipe(Effect.asVoid, Effect.orDie)

      const prepare = (hold: RunHold, workspaceId: WorkspaceId, state: Redacted.Redacted<Uint8Array>) =>
        vault.sealAhead(place(workspaceId, hold.runId), state)

      return RunCheckpoints.of({ prepare, save, load, stored, drop })
    })
  )
}
