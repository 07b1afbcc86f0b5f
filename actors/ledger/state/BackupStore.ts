import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Backup } from "../../../schema/records/Backup.ts"
import { BackupId, CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { StateVersionRow } from "./StateVersionRow.ts"
import { statePlace } from "./StateVersions.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Backups of a Workspace. */
export const BackupRow = table("backups", {
  id: BackupId,
  workspace_id: WorkspaceId,
  capsule_id: Schema.NullOr(CapsuleId),
  digest: Schema.String,
  size_bytes: Schema.Int,
  archive: Schema.String,
  created_by_run_id: RunId,
  created_at: Timestamp
})
export type BackupRow = RowOf<typeof BackupRow.columns>

/** A backup without its archive. */
export const ListedBackup = BackupRow.without("archive")
export type ListedBackup = RowOf<typeof ListedBackup.columns>

export const toBackup = (row: ListedBackup): Backup =>
  Backup.make({
    id: row.id,
    workspaceId: row.workspace_id,
    ...(row.capsule_id === null ? {} : { capsuleId: row.capsule_id }),
    digest: row.digest,
    sizeBytes: row.size_bytes,
    createdByRunId: row.created_by_run_id,
    createdAt: row.created_at
  })

/** Computes the digest stored in a backup's record. */
export const digestOf = (archive: Uint8Array) => `sha256:${createHash("sha256").update(archive).digest("hex")}`

/** The sealing context of an archive. */
export const backupPlace = (workspaceId: WorkspaceId, id: BackupId) => ({
  table: "backups",
  column: "archive",
  workspaceId,
  rowId: id
})

/**
 * Exports of a Workspace's records. Sealed values remain sealed in the export, and the whole archive is sealed again. Creating a
 * backup fails if a large state in it cannot be decrypted.
 */
export class BackupStore extends Context.Service<
  BackupStore,
  {
    /** Runs in the caller's transaction. */
    readonly create: (run: {
      readonly id: RunId
      readonly workspaceId: WorkspaceId
      readonly capsuleId: CapsuleId | null
    }) => Effect.Effect<Pick<BackupRow, "id" | "digest" | "size_bytes">>
    readonly find: (id: BackupId) => Effect.Effect<ListedBackup | undefined>
    /** Decrypts the archive and verifies its digest. */
    readonly open: (id: BackupId) => Effect.Effect<Uint8Array>
    /** Returns the sealed archive, as stored. */
    readonly sealed: (id: BackupId) => Effect.Effect<string>
  }
>()("svc/actors/ledger/state/BackupStore") {
  static readonly layer = Layer.effect(
    BackupStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const exported = Effect.fnUntraced(function* (workspaceId: WorkspaceId, capsuleId: CapsuleId | null) {
        const ofCapsule = capsuleId === null ? sql`workspace_id = ${workspaceId}` : sql`capsule_id = ${capsuleId}`
        const self = capsuleId === null ? sql`workspace_id = ${workspaceId}` : sql`id = ${capsuleId}`
        const versions = yield* StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE ${ofCapsule}
          ORDER BY capsule_id, generation`
        return {
          format: "svc.backup/v1",
          workspaceId,
          capsuleId,
          capsules: yield* sql`SELECT * FROM capsules WHERE ${self} ORDER BY id`,
          installConfigs: yield* sql`SELECT * FROM install_configs WHERE ${ofCapsule} ORDER BY id`,
          stateVersions: yield* Effect.forEach(versions, (row) =>
            Effect.map(vault.inOneText(statePlace(row), row.state), (state) => ({ ...row, state }))
          ),
          outputs: yield* sql`SELECT * FROM outputs WHERE ${ofCapsule} ORDER BY id`,
          runs: yield* sql`SELECT * FROM runs WHERE ${ofCapsule} ORDER BY created_at, id`,
          sources:
            capsuleId === null ? yield* sql`SELECT * FROM sources WHERE workspace_id = ${workspaceId} ORDER BY id` : [],
          snapshots:
            capsuleId === null
              ? yield* sql`SELECT * FROM source_snapshots WHERE workspace_id = ${workspaceId} ORDER BY id`
              : [],
          bindings: yield* sql`SELECT * FROM provider_bindings WHERE workspace_id = ${workspaceId} ORDER BY id`,
          // Exports the sealed values, because a restored Capsule would otherwise get different secrets.
          generatedSecrets: yield* sql`SELECT * FROM generated_secrets WHERE ${ofCapsule} ORDER BY id`,
          deliveries: yield* sql`SELECT * FROM run_deliveries WHERE ${ofCapsule} ORDER BY created_at, run_id`,
          interfaces: yield* sql`SELECT * FROM interfaces WHERE ${ofCapsule} ORDER BY id`,
          interfaceBindings: yield* sql`SELECT b.* FROM interface_bindings b
            WHERE b.interface_id IN (SELECT id FROM interfaces WHERE ${ofCapsule}) ORDER BY b.id`,
          dependencies: yield* sql`SELECT * FROM dependencies WHERE workspace_id = ${workspaceId}
            AND ${capsuleId === null ? sql`1 = 1` : sql`(consumer_capsule_id = ${capsuleId} OR producer_capsule_id = ${capsuleId})`}
            ORDER BY id`
        }
      })

      const stored = Effect.fnUntraced(function* (id: BackupId) {
        const [row] = yield* BackupRow.rows(sql)`SELECT * FROM backups WHERE id = ${id}`
        return row ?? (yield* Effect.die(new Error(`The backup ${id} is gone`)))
      }, Effect.orDie)

      return BackupStore.of({
        open: Effect.fnUntraced(function* (id) {
          const row = yield* stored(id)
          const archive = Redacted.value(
            yield* Effect.orDie(vault.open(backupPlace(row.workspace_id, id), row.archive))
          )
          return digestOf(archive) === row.digest
            ? archive
            : yield* Effect.die(new Error(`The backup ${id} does not have the digest of its record`))
        }),
        sealed: (id) => Effect.map(stored(id), ({ archive }) => archive),
        create: Effect.fnUntraced(function* ({ id: runId, workspaceId, capsuleId }) {
          const archive = gzipSync(JSON.stringify(yield* exported(workspaceId, capsuleId)))
          const id = derivedId(BackupId, "bkp", runId, "backup")
          const row = {
            id,
            workspace_id: workspaceId,
            capsule_id: capsuleId,
            digest: digestOf(archive),
            size_bytes: archive.length,
            created_by_run_id: runId,
            created_at: yield* now
          }
          const sealed = yield* vault.seal(backupPlace(workspaceId, id), Redacted.make(new Uint8Array(archive)))
          yield* sql`INSERT INTO backups ${BackupRow.values(sql, { ...row, archive: sealed })}`
          return row
        }, Effect.orDie),
        find: (id) =>
          BackupRow.some(
            sql,
            "id",
            "workspace_id",
            "capsule_id",
            "digest",
            "size_bytes",
            "created_by_run_id",
            "created_at"
          )`SELECT id, workspace_id, capsule_id, digest, size_bytes, created_by_run_id, created_at
            FROM backups WHERE id = ${id}`.pipe(
            Effect.map((rows) => rows[0]),
            Effect.orDie
          )
      })
    })
  )
}
