import { Clock, Duration, Effect, Redacted, Ref, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { SqlClient, SqlSchema } from "effect/sql"
import { WrappedDataKey } from "../../../schema/api/SealedBackup.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { now } from "../Identity.ts"
import { SharedDatabase } from "../node/Nodes.ts"
import { deriveKey, type Keyring, type MasterKey, masterKeyLength } from "./MasterKey.ts"
import { identity, openBytes, sealBytes, VaultOpenFailed } from "./Sealing.ts"
import { provided } from "../Provided.ts"
import { createHmac, createSecretKey } from "node:crypto"
import { type RowOf, rowShape, table } from "../database/Table.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"

/** Wrapped data keys. `workspace_id` is empty for records outside any Workspace. */
export const DataKeyRow = table("vault_data_keys", {
  id: Schema.String,
  record_kind: Schema.String,
  workspace_id: Schema.String,
  master_key_id: Schema.String,
  wrapped_key: Schema.String,
  status: Schema.String,
  created_at: Timestamp,
  wrapped_at: Timestamp
})
type DataKeyRow = RowOf<typeof DataKeyRow.columns>

/** A key that seals the values of one record kind in one Workspace. */
export interface DataKey {
  readonly id: string
  readonly secret: Redacted.Redacted<Uint8Array>
}

const Row = Schema.Struct({
  id: Schema.String,
  record_kind: Schema.String,
  workspace_id: Schema.String,
  master_key_id: Schema.String,
  wrapped_key: Schema.String,
  created_at: Schema.String
})
type Row = typeof Row.Type

// The time for which a key seals new values. An older key still decrypts existing values.
const activeFor = retention.dataKey.after
const rewrapBatch = 200

const wrapIdentity = (row: Pick<Row, "id" | "record_kind" | "workspace_id">, masterKeyId: string) =>
  identity(["svc/vault/data-key/v1", row.id, row.record_kind, row.workspace_id, masterKeyId])

// Returns true if the key is too old to seal new values. The key used for the keyed digests is exempt, because that key must
// never change.
const isAged = (row: Row, millis: number, ageless: boolean) =>
  !ageless && millis - Date.parse(row.created_at) > Duration.toMillis(activeFor)

/**
 * The data keys in the database. New keys are written in the caller's transaction, if any. They are cached only after the
 * commit: if a key were rolled back, values sealed with it could never be decrypted.
 */
export const makeDataKeys = Effect.fnUntraced(function* (keyring: Ref.Ref<Keyring>) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const isShared = yield* SharedDatabase
  const active = new Map<string, { readonly key: DataKey; readonly row: Row }>()
  const known = new Map<string, DataKey>()
  const wrappingKeys = new Map<string, Redacted.Redacted<Uint8Array>>()

  const wrappingKey = Effect.fnUntraced(function* (master: MasterKey) {
    const cached = wrappingKeys.get(master.id)
    if (cached !== undefined) return cached
    const derived = Redacted.make(yield* deriveKey(master.secret, "svc/vault/wrap/v1"))
    const key = wrappingKeys.get(master.id) ?? derived
    wrappingKeys.set(master.id, key)
    return key
  })

  const unwrap = yield* provided(
    Effect.fnUntraced(function* (row: Row) {
      const { keys } = yield* Ref.get(keyring)
      const master = keys.find((key) => key.id === row.master_key_id)
      if (master === undefined) return yield* VaultOpenFailed.anywhere()
      const secret = yield* openBytes(yield* wrappingKey(master), wrapIdentity(row, master.id), row.wrapped_key)
      return { id: row.id, secret: Redacted.make(secret) } satisfies DataKey
    })
  )

  const wrap = yield* provided(
    Effect.fnUntraced(function* (
      row: Pick<Row, "id" | "record_kind" | "workspace_id">,
      secret: Redacted.Redacted<Uint8Array>,
      master: MasterKey
    ) {
      return yield* sealBytes(yield* wrappingKey(master), wrapIdentity(row, master.id), Redacted.value(secret))
    })
  )

  const findActive = SqlSchema.findAll({
    Request: Schema.Struct({ kind: Schema.String, workspaceId: Schema.String }),
    Result: Row,
    execute: ({ kind, workspaceId }) =>
      sql`SELECT id, record_kind, workspace_id, master_key_id, wrapped_key, created_at FROM vault_data_keys
        WHERE record_kind = ${kind} AND workspace_id = ${workspaceId} AND status = 'active'`
  })

  const findById = SqlSchema.findAll({
    Request: Schema.String,
    Result: Row,
    execute: (id) =>
      sql`SELECT id, record_kind, workspace_id, master_key_id, wrapped_key, created_at FROM vault_data_keys WHERE id = ${id}`
  })

  const findForeign = SqlSchema.findAll({
    Request: Schema.String,
    Result: Row,
    execute: (masterKeyId) =>
      sql`SELECT id, record_kind, workspace_id, master_key_id, wrapped_key, created_at FROM vault_data_keys
        WHERE master_key_id <> ${masterKeyId} ORDER BY id LIMIT ${rewrapBatch}`
  })

  /**
   * Returns the master key for a new data key. Servers that share a database may have different active keys until all of
   * them have been restarted. They all use the key that wraps the digest root, which only a rotation changes. Otherwise a
   * server could use the previous key after the rotation has wrapped everything with the new one.
   */
  const masterForNew = Effect.gen(function* () {
    const { active: own, keys } = yield* Ref.get(keyring)
    if (!isShared) return own
    const [root] = yield* findActive({ kind: digestRootKind, workspaceId: "" })
    return keys.find(({ id }) => id === root?.master_key_id) ?? own
  })

  // Checks for a concurrent rotation inside the transaction, because no other writer can interfere there.
  const create = Effect.fnUntraced(function* (kind: string, workspaceId: string, aged: Row | undefined) {
    const before = (yield* Ref.get(keyring)).active
    const master = yield* masterForNew
    const secret = Redacted.make(yield* random.randomBytes(masterKeyLength))
    const id = `dk_${Hex.encode(yield* random.randomBytes(12))}`
    const named = { id, record_kind: kind, workspace_id: workspaceId }
    const created_at = yield* now
    const row = { ...named, created_at, master_key_id: master.id, wrapped_key: yield* wrap(named, secret, master) }
    if (aged !== undefined) {
      yield* sql`UPDATE vault_data_keys SET status = 'retired'
        WHERE record_kind = ${kind} AND workspace_id = ${workspaceId} AND status = 'active'`
    }
    yield* sql`INSERT INTO vault_data_keys ${DataKeyRow.values(sql, { ...row, status: "active", wrapped_at: created_at })}`
    const rotated = (yield* Ref.get(keyring)).active.id !== before.id
    return rotated ? yield* new RotationBetween() : { row, key: { id, secret } satisfies DataKey }
  })

  const remember = (entry: { readonly key: DataKey; readonly row: Row }) =>
    sql.afterCommit(
      Effect.sync(() => {
        known.set(entry.key.id, entry.key)
        active.set(JSON.stringify([entry.row.record_kind, entry.row.workspace_id]), entry)
      })
    )

  const forSealing = Effect.fnUntraced(function* (
    kind: string,
    workspaceId: string,
    options?: { readonly ageless: true }
  ) {
    const millis = yield* Clock.currentTimeMillis
    const ageless = options?.ageless === true
    const cached = active.get(JSON.stringify([kind, workspaceId]))
    if (cached !== undefined && !isAged(cached.row, millis, ageless)) return cached.key
    const find = Effect.gen(function* () {
      const [row] = yield* findActive({ kind, workspaceId })
      return { row, usable: row !== undefined && !isAged(row, millis, ageless) ? row : undefined }
    })
    // Reads first, because keys are rarely created and only creating a key needs the write lock.
    const { usable } = yield* Effect.orDie(find)
    if (usable !== undefined) {
      const key = yield* unwrap(usable).pipe(Effect.orDie)
      yield* remember({ row: usable, key })
      return key
    }
    return yield* Effect.gen(function* () {
      const { row, usable } = yield* find
      const entry =
        usable === undefined ? yield* create(kind, workspaceId, row) : { row: usable, key: yield* unwrap(usable) }
      yield* remember(entry)
      return entry.key
    }).pipe(sql.withTransaction, Effect.retry({ while: (error) => error._tag === "RotationBetween" }), Effect.orDie)
  })

  const forOpening = Effect.fnUntraced(function* (id: string) {
    const cached = known.get(id)
    if (cached !== undefined) return cached
    const [row] = yield* findById(id).pipe(Effect.orDie)
    if (row === undefined) return yield* VaultOpenFailed.anywhere()
    const key = yield* unwrap(row)
    yield* sql.afterCommit(Effect.sync(() => void known.set(id, key)))
    return key
  })

  /** Wraps one batch with the active master key. Returns the number of data keys in the batch; 0 if none remain. */
  const rewrapSome = Effect.gen(function* () {
    const { active: master } = yield* Ref.get(keyring)
    const rows = yield* findForeign(master.id)
    const wrapped_at = yield* now
    yield* Effect.forEach(
      rows,
      Effect.fnUntraced(function* (row) {
        const wrapped = yield* wrap(row, (yield* unwrap(row)).secret, master)
        yield* sql`UPDATE vault_data_keys SET wrapped_key = ${wrapped}, master_key_id = ${master.id}, wrapped_at = ${wrapped_at}
          WHERE id = ${row.id} AND master_key_id = ${row.master_key_id}`
      }),
      { discard: true }
    )
    return rows.length
  }).pipe(sql.withTransaction, Effect.orDie)

  /** Wraps every data key with the active master key, in short transactions. Returns the number of changed keys. */
  const rewrapAll: Effect.Effect<number> = Effect.gen(function* () {
    let total = 0
    for (let done = yield* rewrapSome; done > 0; done = yield* rewrapSome) total += done
    return total
  })

  const findWrapped = SqlSchema.findAll({
    Request: Schema.Struct({ ids: Schema.Array(Schema.String), workspaceId: WorkspaceId }),
    Result: Schema.Struct({ ...WrappedDataKey.fields }),
    execute: ({ ids, workspaceId }) =>
      sql`SELECT id, record_kind AS "recordKind", workspace_id AS "workspaceId", master_key_id AS "masterKeyId",
        wrapped_key AS "wrappedKey", created_at AS "createdAt" FROM vault_data_keys
        WHERE workspace_id = ${workspaceId} AND ${sql.in("id", ids)} ORDER BY id`
  })

  /** Returns those data keys of the Workspace that are needed to decrypt the sealed values in the text. */
  const wrappedIn = (workspaceId: WorkspaceId, text: string) =>
    Effect.orDie(findWrapped({ ids: [...new Set(text.match(/dk_[0-9a-f]{24}/g) ?? [])], workspaceId }))

  /** Creates data keys from a file. These keys only decrypt values from that file, and are not stored. */
  const ofFile = (keys: ReadonlyArray<WrappedDataKey>) => ({
    forOpening: Effect.fnUntraced(function* (id: string) {
      const key = keys.find((candidate) => candidate.id === id)
      if (key === undefined) return yield* VaultOpenFailed.anywhere()
      return yield* unwrap({
        id,
        record_kind: key.recordKind,
        workspace_id: key.workspaceId,
        master_key_id: key.masterKeyId,
        wrapped_key: key.wrappedKey,
        created_at: key.createdAt
      })
    })
  })

  return { forSealing, forOpening, ofFile, rewrapAll, wrappedIn }
})

/** The active master key changed while a data key was being wrapped with the previous master key. */
class RotationBetween extends Schema.TaggedError<RotationBetween>()("RotationBetween", {}) {}

/** Counts the data keys wrapped by each master key. */
export const masterKeysInUse = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: Schema.String, dataKeys: Schema.Int }),
    execute: () =>
      sql`SELECT master_key_id AS id, COUNT(*) AS "dataKeys" FROM vault_data_keys GROUP BY master_key_id ORDER BY master_key_id`
  })(undefined)
}).pipe(Effect.orDie)

/** The data key used for the keyed digests. There is only one, and it never changes. */
export const digestRootKind = "svc/mac"

/**
 * Computes keyed digests for one purpose (HMAC-SHA-256, base64url). Synchronous, because lists compute one digest per row,
 * and waiting for a thread or service would take longer than computing the digest.
 */
export const digestFor = Effect.fnUntraced(function* (root: DataKey, purpose: string) {
  const key = createSecretKey(yield* deriveKey(root.secret, `svc/mac/${purpose}/v1`))
  return (text: string) => createHmac("sha256", key).update(text).digest("base64url")
})

const RootId = rowShape({ id: Schema.String })

/** Returns the id of the key used for this database's digests, or `undefined` if the key does not exist yet. */
export const digestRootId = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* RootId.rows(sql)`SELECT id FROM vault_data_keys
    WHERE record_kind = ${digestRootKind} AND workspace_id = '' AND status = 'active'`
  return row?.id
}).pipe(Effect.orDie)

/**
 * Opens the digests of a database that is opened read-only. Fails with `VaultOpenFailed` if the master keys do not match the
 * database.
 */
export const openDigests = Effect.fn("openDigests")(function* (keyring: Keyring) {
  const dataKeys = yield* makeDataKeys(yield* Ref.make(keyring))
  const id = yield* digestRootId
  if (id === undefined) return yield* VaultOpenFailed.anywhere()
  const root = yield* dataKeys.forOpening(id)
  return { id, digestFor: (purpose: string) => digestFor(root, purpose) }
})
