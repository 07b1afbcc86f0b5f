import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import { sha256OfLong } from "../../../runner/execution/Digest.ts"
import { type ScannedState, scanState } from "../../../runner/execution/StateScan.ts"
import { outsideTransaction } from "../../../runner/thread/OutsideTransaction.ts"
import { CapsuleId, OrphanedStateId, RunId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { OrphanedStateReason } from "../../../schema/records/OrphanedState.ts"
import { type BuildColumns, buildColumns } from "../build/BuildColumns.ts"
import { type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { secretsOfText, secretsText } from "../../base/vault/SealedSecrets.ts"
import { orOnIntegrityFault } from "../../base/vault/IntegrityFault.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { RunCheckpoints } from "./RunCheckpoints.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"

/** States that applies left behind and that svc did not accept when it settled the applies. */
export const OrphanedStateRow = table("left_over_states", {
  id: OrphanedStateId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  run_id: RunId,
  reason: OrphanedStateReason,
  digest: Schema.String,
  size_bytes: Schema.Int,
  /** `NULL`, like `serial`, if the bytes are not a complete state file. */
  lineage: Schema.NullOr(Schema.String),
  serial: Schema.NullOr(Schema.Int),
  /** `NULL` if the bytes are not a complete state file or the tool encrypted the state. */
  resource_count: Schema.NullOr(Schema.Int),
  /** The sealed state; `NULL` after a person has adopted or discarded it. */
  state: Schema.NullOr(Schema.String),
  /** `NULL` after a person has adopted or discarded the state, and also if the secrets were unknown. */
  sealed_secrets: Schema.NullOr(Schema.String),
  build_digest: Schema.NullOr(Schema.String),
  build_size_bytes: Schema.NullOr(Schema.Int),
  state_version_id: Schema.NullOr(StateVersionId),
  state_generation: Schema.Int,
  execution_authority_epoch: Schema.Int,
  created_at: Timestamp,
  adopted_at: Schema.NullOr(Timestamp),
  adopted_by: Schema.NullOr(Schema.String),
  discarded_at: Schema.NullOr(Timestamp),
  discarded_by: Schema.NullOr(Schema.String)
})
export type OrphanedStateRow = RowOf<typeof OrphanedStateRow.columns>

/** The columns that lists read. They exclude sealed values. */
export const ListedOrphanedState = OrphanedStateRow.without(
  "state",
  "sealed_secrets",
  "build_digest",
  "build_size_bytes"
)
export type ListedOrphanedState = RowOf<typeof ListedOrphanedState.columns>

/** A completely scanned state that is ready to be stored. */
export interface ReadOrphanedState {
  readonly state: Redacted.Redacted<Uint8Array>
  readonly digest: string
  /** `undefined` if the bytes are not a state. */
  readonly scanned: ScannedState | undefined
}

/** A state that a settlement did not accept, and the Capsule's state after that settlement. */
export interface NewOrphanedState {
  /** The Capsule, as read by the settlement. */
  readonly capsule: {
    readonly id: CapsuleId
    readonly workspace_id: WorkspaceId
    readonly current_state_version_id: StateVersionId | null
    readonly current_state_generation: number
    readonly execution_authority_epoch: number
  }
  readonly runId: RunId
  readonly reason: OrphanedStateReason | undefined
  readonly left: ReadOrphanedState
  /** The StateVersion that the settlement committed instead. */
  readonly settled: { readonly id: StateVersionId } | undefined
  /** The secret inputs of the apply; `undefined` if unknown. */
  readonly secrets: ReadonlyArray<SecretText> | undefined
  readonly build: BuildColumns | undefined
  /** Distinguishes several states of one Run. Absent for the state that the settlement itself kept. */
  readonly part?: string | undefined
}

const place = (row: Pick<OrphanedStateRow, "id" | "workspace_id">, column: "state" | "sealed_secrets") => ({
  table: "left_over_states",
  column,
  workspaceId: row.workspace_id,
  rowId: row.id
})

/** A checkpoint that an earlier release kept because the Run's settlement did not accept it. */
const KeptCheckpoint = rowShape({
  run_id: RunId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  state_version_id: Schema.NullOr(StateVersionId),
  generation: Schema.Int,
  execution_authority_epoch: Schema.Int
})

type KeptCheckpoint = RowOf<typeof KeptCheckpoint.columns>

/** The person who decided to adopt or discard a left-over state, and the time of the decision. */
interface Decision {
  readonly by: string | null
}

/** Keeps sealed copies of the states that settlements did not accept, until a person adopts or discards them. */
export class OrphanedStates extends Context.Service<
  OrphanedStates,
  {
    /** Scans a state. Call it before the transaction of `keep`, because scanning a large state is slow. */
    readonly read: (state: Redacted.Redacted<Uint8Array>) => Effect.Effect<ReadOrphanedState>
    /** Runs in the caller's transaction. */
    readonly keep: (leftOver: NewOrphanedState) => Effect.Effect<void>
    readonly find: (id: OrphanedStateId | null) => Effect.Effect<OrphanedStateRow | undefined>
    /** Decrypts the state. Returns `none` after it has been adopted or discarded. */
    readonly open: (row: OrphanedStateRow) => Effect.Effect<Option.Option<Redacted.Redacted<Uint8Array>>>
    /** Returns the secret inputs of the apply that left the state, or `undefined` if they are unknown. */
    readonly secrets: (row: OrphanedStateRow) => Effect.Effect<ReadonlyArray<SecretText> | undefined>
    /**
     * Erases the sealed state after a StateVersion has been created from it. Returns `false` if the state has already been
     * adopted or discarded.
     */
    readonly adopted: (id: OrphanedStateId, decision: Decision) => Effect.Effect<boolean>
    /** Erases the sealed state. Returns `false` if the state has already been adopted or discarded. */
    readonly discarded: (id: OrphanedStateId, decision: Decision) => Effect.Effect<boolean>
    /**
     * Imports states that earlier releases kept as checkpoints of ended Runs, where nobody could access them. Skips states that
     * cannot be decrypted. Idempotent.
     */
    readonly takeOver: Effect.Effect<void>
  }
>()("svc/actors/ledger/state/OrphanedStates") {
  static readonly layer = Layer.effect(
    OrphanedStates,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const checkpoints = yield* RunCheckpoints

      const read = Effect.fn("OrphanedStates.read")(function* (
        state: Redacted.Redacted<Uint8Array>
      ): Effect.fn.Return<ReadOrphanedState> {
        const bytes = Redacted.value(state)
        const scanned = Option.getOrUndefined(yield* scanState(bytes))
        return { state, digest: yield* sha256OfLong(bytes), scanned }
      }, outsideTransaction("A left-over state is read"))

      const keep = Effect.fn("OrphanedStates.keep")(function* (leftOver: NewOrphanedState) {
        const { build, capsule, left, part = "state", reason, runId, secrets, settled } = leftOver
        const { digest, scanned, state } = left
        const row = { id: derivedId(OrphanedStateId, "lo", runId, part), workspace_id: capsule.workspace_id }
        const at = { ...row, workspace_id: capsule.workspace_id }
        yield* sql`INSERT INTO left_over_states ${OrphanedStateRow.values(sql, {
          ...row,
          capsule_id: capsule.id,
          run_id: runId,
          reason: reason ?? "unknown",
          digest,
          size_bytes: Redacted.value(state).length,
          lineage: scanned?.lineage ?? null,
          serial: scanned?.serial ?? null,
          resource_count: scanned?.resourceCount ?? null,
          state: yield* vault.seal(place(at, "state"), state),
          sealed_secrets:
            secrets === undefined ? null : yield* vault.seal(place(at, "sealed_secrets"), secretsText(secrets)),
          ...(build ?? buildColumns(undefined)),
          state_version_id: settled?.id ?? capsule.current_state_version_id,
          state_generation: capsule.current_state_generation + (settled === undefined ? 0 : 1),
          execution_authority_epoch: capsule.execution_authority_epoch,
          created_at: yield* now
        })}`
      }, Effect.orDie)

      const find = Effect.fnUntraced(function* (id: OrphanedStateId | null) {
        const rows = yield* OrphanedStateRow.rows(sql)`SELECT * FROM left_over_states WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const open = (row: OrphanedStateRow) =>
        row.state === null ? Effect.succeedNone : Effect.orDie(vault.openStored(place(row, "state"), row.state))

      const secrets = Effect.fnUntraced(function* (row: OrphanedStateRow) {
        if (row.sealed_secrets === null) return undefined
        return yield* secretsOfText(yield* vault.openText(place(row, "sealed_secrets"), row.sealed_secrets))
      }, Effect.orDie)

      const adopted = Effect.fn("OrphanedStates.adopted")(function* (id: OrphanedStateId, { by }: Decision) {
        const decided = yield* sql`UPDATE left_over_states SET ${OrphanedStateRow.changes(sql, {
          state: null,
          sealed_secrets: null,
          adopted_at: yield* now,
          adopted_by: by
        })} WHERE id = ${id} AND adopted_at IS NULL AND discarded_at IS NULL RETURNING id`
        return decided.length === 1
      }, Effect.orDie)

      const discarded = Effect.fn("OrphanedStates.discarded")(function* (id: OrphanedStateId, { by }: Decision) {
        const decided = yield* sql`UPDATE left_over_states SET ${OrphanedStateRow.changes(sql, {
          state: null,
          sealed_secrets: null,
          discarded_at: yield* now,
          discarded_by: by
        })} WHERE id = ${id} AND adopted_at IS NULL AND discarded_at IS NULL RETURNING id`
        return decided.length === 1
      }, Effect.orDie)

      const takeOverOne = Effect.fnUntraced(
        function* (kept: KeptCheckpoint) {
          const state = yield* checkpoints.load(kept.workspace_id, kept.run_id)
          if (Option.isNone(state)) return
          const left = yield* read(state.value)
          // The Run has ended, so its checkpoint can no longer change.
          yield* keep({
            capsule: {
              id: kept.capsule_id,
              workspace_id: kept.workspace_id,
              current_state_version_id: kept.state_version_id,
              current_state_generation: kept.generation,
              execution_authority_epoch: kept.execution_authority_epoch
            },
            runId: kept.run_id,
            reason: undefined,
            left,
            settled: undefined,
            secrets: undefined,
            build: undefined
          }).pipe(Effect.andThen(checkpoints.drop(kept.run_id)), transaction(sql))
        },
        orOnIntegrityFault(() => Effect.void)
      )

      const takeOver = Effect.gen(function* () {
        const kept = yield* KeptCheckpoint.rows(sql)`SELECT r.id AS run_id, r.workspace_id, r.capsule_id,
          COALESCE(r.state_version_id, r.base_state_version_id) AS state_version_id,
          COALESCE(v.generation, r.base_state_generation, 0) AS generation,
          COALESCE(r.execution_authority_epoch, 0) AS execution_authority_epoch
          FROM run_checkpoints k JOIN runs r ON r.id = k.run_id LEFT JOIN state_versions v ON v.id = r.state_version_id
          WHERE r.status IN ('succeeded', 'failed', 'cancelled') AND r.capsule_id IS NOT NULL ORDER BY r.id`
        for (const one of kept) yield* takeOverOne(one)
      }).pipe(Effect.orDie, Effect.withSpan("OrphanedStates.takeOver"))

      return OrphanedStates.of({ read, keep, find, open, secrets, adopted, discarded, takeOver })
    })
  )
}
