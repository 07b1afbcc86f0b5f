import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readState } from "../../../runner/document/Documents.ts"
import type { ManagedObject } from "../../../runner/execution/StateFile.ts"
import { CapsuleId, StateVersionId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { rowShape } from "../../base/database/Table.ts"
import { StateIndex } from "../../ledger/state/StateIndex.ts"
import { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"

/** A resource in a state, and the Capsule that already manages this resource. */
export interface ManagedTwice {
  readonly address: string
  readonly capsule: { readonly id: CapsuleId; readonly name: string }
}

/** The objects in the states that the index does not contain, keyed by state version. */
export type Unindexed = ReadonlyMap<StateVersionId, ReadonlyArray<ManagedObject>>

/** Number of keys that one statement looks up. */
const keysAtOnce = 500

const Owner = rowShape({ id: CapsuleId, name: Schema.String, object_key: Schema.String })
const Unread = rowShape({ id: CapsuleId, name: Schema.String, current_state_version_id: StateVersionId })

/** Finds resources that existing Capsules of a Workspace already manage. */
export class ManagedElsewhere extends Context.Service<
  ManagedElsewhere,
  {
    /**
     * Reads the objects in those of a Workspace's current states that the index does not contain. Do not call it in a
     * transaction, because it decrypts and parses those states.
     */
    readonly unindexed: (workspaceId: WorkspaceId) => Effect.Effect<Unindexed>
    /**
     * Returns those of the given objects that a current state in the Workspace contains, in the given order. Returns
     * `undefined` if a state is neither in the index nor in `unindexed`, because it has just been committed.
     */
    readonly find: (
      workspaceId: WorkspaceId,
      objects: ReadonlyArray<ManagedObject>,
      unindexed: Unindexed
    ) => Effect.Effect<ReadonlyArray<ManagedTwice> | undefined>
  }
>()("svc/actors/commands/adoption/ManagedElsewhere") {
  static readonly layer = Layer.effect(
    ManagedElsewhere,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const states = yield* StateVersions
      const index = yield* StateIndex

      const unread = (workspaceId: WorkspaceId) =>
        Unread.rows(sql)`SELECT c.id, c.name, c.current_state_version_id
          FROM capsules c LEFT JOIN state_indexes i ON i.state_version_id = c.current_state_version_id AND i.outcome = 'indexed'
          WHERE c.workspace_id = ${workspaceId} AND c.current_state_version_id IS NOT NULL AND i.state_version_id IS NULL
            AND ${sql.literal(livingCapsule("c."))} ORDER BY c.created_at, c.id`

      const unindexed = Effect.fn("ManagedElsewhere.unindexed")(function* (workspaceId: WorkspaceId) {
        const found = new Map<StateVersionId, ReadonlyArray<ManagedObject>>()
        for (const { current_state_version_id: id } of yield* unread(workspaceId)) {
          const [row] = yield* StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE id = ${id}`
          if (row === undefined) continue
          const state = yield* readState(Redacted.value(yield* states.open(row)))
          found.set(id, Option.getOrUndefined(state)?.managed ?? [])
        }
        return found
      }, Effect.orDie)

      const find = Effect.fn("ManagedElsewhere.find")(function* (
        workspaceId: WorkspaceId,
        objects: ReadonlyArray<ManagedObject>,
        unindexed: Unindexed
      ) {
        const keyOf = yield* index.keyOf(workspaceId)
        const keys = [...new Set(objects.flatMap((object) => keyOf(object) ?? []))]
        const owners = new Map<string, ManagedTwice["capsule"]>()
        for (let from = 0; from < keys.length; from += keysAtOnce) {
          const rows = yield* Owner.rowsOnce(sql)`SELECT c.id, c.name, r.object_key FROM resource_versions r
            JOIN capsules c ON c.id = r.capsule_id JOIN state_indexes i ON i.state_version_id = c.current_state_version_id
            WHERE r.workspace_id = ${workspaceId} AND ${sql.in("r.object_key", keys.slice(from, from + keysAtOnce))}
              AND r.valid_to IS NULL AND i.outcome = 'indexed' AND ${sql.literal(livingCapsule("c."))}
            ORDER BY c.created_at, c.id`
          for (const { id, name, object_key } of rows) owners.set(object_key, { id, name })
        }
        // Also compares states that the index does not contain, so that no object can be managed twice.
        for (const { current_state_version_id, id, name } of keys.length === 0 ? [] : yield* unread(workspaceId)) {
          const managed = unindexed.get(current_state_version_id)
          if (managed === undefined) return undefined
          for (const object of managed) {
            const key = keyOf(object)
            if (key !== null) owners.set(key, { id, name })
          }
        }
        return objects.flatMap((object) => {
          const capsule = owners.get(keyOf(object) ?? "")
          return capsule === undefined ? [] : [{ address: object.address, capsule }]
        })
      }, Effect.orDie)

      return ManagedElsewhere.of({ unindexed, find })
    })
  )
}
