import { Array as Arr, Effect, Schema } from "effect"
import { Aead, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { collectBefore, collectedGarbage } from "../../../runner/execution/CollectedGarbage.ts"
import { longValues } from "../../../schema/tables/VaultTables.ts"
import { type RowOf, rowShape, table } from "../database/Table.ts"
import type { DataKey } from "./DataKeys.ts"
import { decode, encode, identity, keyOf, type SealContext, valueIdentity, VaultOpenFailed } from "./Sealing.ts"

/** A part of a sealed value that is too long for one row. */
export const SealedPartRow = table("sealed_parts", {
  value: Schema.String,
  part: Schema.Int,
  owner: Schema.String,
  nonce: Schema.String,
  bytes: Schema.Uint8Array
})
type SealedPartRow = RowOf<typeof SealedPartRow.columns>

/*
 * Long values are sealed in parts, each in a separate row. A single string would be held in memory several times: in the
 * cipher, as a string, and in SQLite. The value's column contains only an id.
 */

export const partBytes = 1024 * 1024
const tagBytes = 16
const nameBytes = 16

const namePattern = /^v2\.(dk_[0-9a-f]{24})\.[A-Za-z0-9_-]{22}$/

/** Returns the data key of a value that is sealed in parts, or `undefined` for other values. */
export const partsKeyOf = (envelope: string): string | undefined => namePattern.exec(envelope)?.[1]

/** Returns true if a value must be sealed in parts: it is longer than one part, and its column supports parts. */
export const isLong = ({ column, table }: SealContext, plain: Uint8Array): boolean =>
  plain.length > partBytes && longValues.some((place) => place.table === table && place.column === column)

/** Binds each part to its position, and marks the last part, so that no part can be omitted, repeated or swapped. */
const partIdentity = (key: DataKey, context: SealContext, value: string, part: number, isLast: boolean) =>
  identity(["svc/vault/part/v1", ...valueIdentity(key.id, context), value, part, isLast ? 1 : 0])

/** Seals a long value, passes each part to `take`, and returns the value. */
const eachPart = Effect.fnUntraced(function* <E, R>(
  key: DataKey,
  context: SealContext,
  plain: Uint8Array,
  take: (row: SealedPartRow) => Effect.Effect<unknown, E, R>
) {
  const aead = yield* Aead.Aead
  const random = yield* SecureRandom.SecureRandom
  const cipher = yield* keyOf(key.secret)
  const value = `v2.${key.id}.${encode(yield* random.randomBytes(nameBytes))}`
  const parts = Math.ceil(plain.length / partBytes)
  const passed = collectedGarbage()
  collectBefore(plain.length)
  for (let part = 0; part < parts; part += 1) {
    const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength)
    const aad = partIdentity(key, context, value, part, part === parts - 1)
    const piece = plain.subarray(part * partBytes, (part + 1) * partBytes)
    const bytes = yield* aead.encrypt(cipher, piece, { nonce, aad })
    yield* take({ value, part, owner: context.rowId, nonce: encode(nonce), bytes })
    passed(piece.length)
    // Yields after each part, because sealing, decrypting and storing a part never yield.
    yield* Effect.yieldNow
  }
  return value
}, Effect.orDie)

/**
 * Seals a long value. Call it in the transaction that writes the row with the value; removing that row also removes the parts.
 */
export const sealParts = Effect.fnUntraced(function* (key: DataKey, context: SealContext, plain: Uint8Array) {
  const sql = yield* SqlClient.SqlClient
  return yield* eachPart(key, context, plain, (row) => sql`INSERT INTO sealed_parts ${SealedPartRow.values(sql, row)}`)
})

/** A value that was sealed before the transaction that stores it. `parts` is empty for a value in one text. */
export interface SealedAhead {
  readonly text: string
  readonly parts: ReadonlyArray<SealedPartRow>
}

/** Longest value that is sealed ahead in parts. A longer one would take too much memory, so it is sealed part by part. */
const longestAhead = 16 * partBytes
const partsAtOnce = 8

export const isSealedAhead = (plain: Uint8Array): boolean => plain.length <= longestAhead

/** Seals a long value and returns its parts. */
export const sealPartsAhead = Effect.fnUntraced(function* (key: DataKey, context: SealContext, plain: Uint8Array) {
  const parts: Array<SealedPartRow> = []
  const text = yield* eachPart(key, context, plain, (row) => Effect.sync(() => parts.push(row)))
  return { text, parts } satisfies SealedAhead
})

/** Stores the parts of a value in the caller's transaction, several in each statement. */
export const storeParts = Effect.fnUntraced(function* ({ parts, text }: SealedAhead) {
  const sql = yield* SqlClient.SqlClient
  for (const some of Arr.chunksOf(parts, partsAtOnce)) {
    if (Arr.isReadonlyArrayNonEmpty(some)) yield* sql`INSERT INTO sealed_parts ${SealedPartRow.several(sql, some)}`
  }
  return text
}, Effect.orDie)

const Stored = rowShape({ envelope: Schema.NullOr(Schema.String) })

/** Returns the stored content of a column for long values, or null if the column is empty. */
export const storedLong = Effect.fnUntraced(function* ({ column, rowId, table }: SealContext) {
  const sql = yield* SqlClient.SqlClient
  const place = longValues.find((each) => each.table === table && each.column === column)
  if (place === undefined) return null
  const [row] = yield* Stored.rows(sql)`SELECT ${sql(column)} AS envelope FROM ${sql(table)}
    WHERE ${sql(place.key)} = ${rowId}`
  return row?.envelope ?? null
}, Effect.orDie)

const Extent = rowShape({ parts: Schema.Int, bytes: Schema.Int })

/** Decrypts a value that `sealParts` sealed, into one array. Fails with `VaultOpenFailed` for any other input. */
export const openParts = Effect.fnUntraced(function* (key: DataKey, context: SealContext, value: string) {
  const sql = yield* SqlClient.SqlClient
  const aead = yield* Aead.Aead
  const cipher = yield* keyOf(key.secret)
  const [extent] = yield* Effect.orDie(Extent.rows(sql)`SELECT COUNT(*) AS parts,
    COALESCE(SUM(LENGTH(bytes)), 0) AS bytes FROM sealed_parts WHERE value = ${value}`)
  const { bytes = 0, parts = 0 } = extent ?? {}
  const plain = new Uint8Array(Math.max(0, bytes - parts * tagBytes))
  let at = 0
  const passed = collectedGarbage()
  for (let part = 0; part < parts; part += 1) {
    const [row] = yield* Effect.orDie(SealedPartRow.some(sql, "nonce", "bytes")`SELECT nonce, bytes FROM sealed_parts
      WHERE value = ${value} AND part = ${part}`)
    const nonce = decode(row?.nonce ?? "")
    if (row === undefined || nonce?.length !== Aead.aes256Gcm.nonceLength) return yield* VaultOpenFailed.anywhere()
    const aad = partIdentity(key, context, value, part, part === parts - 1)
    const piece = yield* Effect.mapError(aead.decrypt(cipher, row.bytes, { nonce, aad }), VaultOpenFailed.anywhere)
    if (at + piece.length > plain.length) return yield* VaultOpenFailed.anywhere()
    plain.set(piece, at)
    at += piece.length
    passed(piece.length)
    yield* Effect.yieldNow
  }
  return parts > 0 && at === plain.length ? plain : yield* VaultOpenFailed.anywhere()
})
