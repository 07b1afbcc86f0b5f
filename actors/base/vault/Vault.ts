import { timingSafeEqual } from "node:crypto"
import { Context, Effect, type FileSystem, Layer, Option, type Path, Redacted, Ref, Semaphore } from "effect"
import type { Aead, Digest, Kdf, SecureRandom } from "effect/crypto"
import type { ChildProcessSpawner } from "effect/process"
import { SqlClient } from "effect/sql"
import type { WrappedDataKey } from "../../../schema/api/SealedBackup.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type DataKey, digestFor, digestRootKind, makeDataKeys, masterKeysInUse } from "./DataKeys.ts"
import { makeKeyring } from "./MasterKey.ts"
import { generateMasterKey, loadWholeKeyring, writeKeyringFile } from "./MasterKeyStore.ts"
import {
  identity,
  openBytes,
  sealBytes,
  type SealContext,
  valueIdentity,
  VaultLocked,
  VaultOpenFailed
} from "./Sealing.ts"
import {
  isLong,
  isSealedAhead,
  openParts,
  partsKeyOf,
  type SealedAhead,
  sealParts,
  sealPartsAhead,
  storedLong,
  storeParts
} from "./SealedParts.ts"
import { VaultSettings } from "./VaultSettings.ts"
import { provided } from "../Provided.ts"

/** The result of a rotation. `resumed` is true if it completed an interrupted rotation instead of starting a new one. */
export interface Rotation {
  readonly activeKeyId: string
  readonly rewrapped: number
  readonly resumed: boolean
  readonly forgotten: ReadonlyArray<string>
}

export interface MasterKeyIds {
  readonly active: string
  readonly decryptOnly: ReadonlyArray<string>
  /** Master keys that currently wrap data keys. */
  readonly inUse: ReadonlyArray<{ readonly id: string; readonly dataKeys: number }>
}

const envelopePattern = /^v1\.(dk_[0-9a-f]{24})\.([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/

/** Decrypts a sealed value at its location, with the available data keys. */
export const openEnvelope = Effect.fnUntraced(function* (
  dataKeys: Pick<Effect.Success<ReturnType<typeof makeDataKeys>>, "forOpening">,
  context: SealContext,
  envelope: string
) {
  const partsKeyId = partsKeyOf(envelope)
  if (partsKeyId !== undefined) {
    return Redacted.make(yield* openParts(yield* dataKeys.forOpening(partsKeyId), context, envelope))
  }
  const [, dataKeyId, sealed] = envelopePattern.exec(envelope) ?? []
  if (dataKeyId === undefined || sealed === undefined) return yield* VaultOpenFailed.anywhere()
  const key = yield* dataKeys.forOpening(dataKeyId)
  return Redacted.make(yield* openBytes(key.secret, identity(valueIdentity(key.id, context)), sealed))
})

/**
 * Envelope encryption of values that the database must not store in plain text, and keyed digests of values that clients send
 * back.
 */
export class Vault extends Context.Service<
  Vault,
  {
    /**
     * Seals a value for its location. The first value of a record kind in a Workspace also creates a data key, in the caller's
     * transaction if there is one.
     */
    readonly seal: (
      context: SealContext,
      plain: Redacted.Redacted<string> | Redacted.Redacted<Uint8Array>
    ) => Effect.Effect<string>
    /**
     * Seals a value before the transaction that stores it, because encryption would make other writers wait. When the
     * transaction later calls `seal` with the same bytes and location, it only stores the result. Does nothing if the value
     * is too large to hold in memory.
     */
    readonly sealAhead: (context: SealContext, plain: Redacted.Redacted<Uint8Array>) => Effect.Effect<void>
    /**
     * Creates missing data keys of a Workspace for values in these tables. Call it before a transaction that seals values in
     * these tables, so that creating the keys does not lengthen the transaction.
     */
    readonly prepare: (workspaceId: WorkspaceId, tables: ReadonlyArray<SealContext["table"]>) => Effect.Effect<void>
    readonly open: (
      context: SealContext,
      envelope: string
    ) => Effect.Effect<Redacted.Redacted<Uint8Array>, VaultOpenFailed>
    readonly openText: (context: SealContext, envelope: string) => Effect.Effect<Redacted.Redacted, VaultOpenFailed>
    /**
     * Decrypts a value whose row was read earlier, outside a transaction. If the value's parts no longer exist, decrypts the
     * row's current value; returns `none` if the current value is empty.
     */
    readonly openStored: (
      context: SealContext,
      envelope: string
    ) => Effect.Effect<Option.Option<Redacted.Redacted<Uint8Array>>, VaultOpenFailed>
    /**
     * Returns a sealed value as a single string that can be decrypted after it has been copied elsewhere. Parts in separate
     * rows would not be copied.
     */
    readonly inOneText: (context: SealContext, envelope: string) => Effect.Effect<string, VaultOpenFailed>
    /** Returns those wrapped data keys of a Workspace that are needed to decrypt the sealed values in the text. */
    readonly wrappedKeys: (workspaceId: WorkspaceId, text: string) => Effect.Effect<ReadonlyArray<WrappedDataKey>>
    /**
     * Uses the data keys from another installation's file to decrypt the values that it sealed. Fails with `VaultLocked` and
     * the ids of the master keys that this installation lacks.
     */
    readonly foreign: (
      keys: ReadonlyArray<WrappedDataKey>
    ) => Effect.Effect<
      (context: SealContext, envelope: string) => Effect.Effect<Redacted.Redacted<Uint8Array>, VaultOpenFailed>,
      VaultLocked
    >
    /** Keyed digest of `text` (HMAC-SHA-256, base64url). Digests for different purposes are unrelated. */
    readonly mac: (purpose: string, text: string) => Effect.Effect<string>
    /** Returns true if `digest` is the `mac` of `text`. Compares in constant time. */
    readonly verifyMac: (purpose: string, text: string, digest: string) => Effect.Effect<boolean>
    /**
     * Activates a new master key and wraps every data key with it; sealed values are not rewritten. If the environment
     * provides the keys, its first key becomes active. After a crash, the next call completes the rotation. Retired keys in
     * the file still decrypt old backups until `forgetRetired`. Fails with `VaultLocked`.
     */
    readonly rotateMasterKey: (options?: { readonly forgetRetired: boolean }) => Effect.Effect<Rotation, VaultLocked>
    readonly keyIds: Effect.Effect<MasterKeyIds>
  }
>()("svc/actors/base/vault/Vault") {
  /** Fails with `VaultLocked` and the missing key ids if stored secrets need master keys that are not available. */
  static readonly layer: Layer.Layer<
    Vault,
    VaultLocked,
    | VaultSettings
    | SqlClient.SqlClient
    | FileSystem.FileSystem
    | Path.Path
    | ChildProcessSpawner.ChildProcessSpawner
    | Aead.Aead
    | Digest.Digest
    | Kdf.Kdf
    | SecureRandom.SecureRandom
  > = Layer.effect(
    Vault,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const { masterKey: source } = yield* VaultSettings
  const sql = yield* SqlClient.SqlClient
  const inUse = (yield* masterKeysInUse).map(({ id }) => id)
  const loaded = yield* loadWholeKeyring(source, inUse)
  const keyring = yield* Ref.make(loaded)
  const dataKeys = yield* makeDataKeys(keyring)
  const rotating = yield* Semaphore.make(1)

  // Digests depend on a data key instead of the master key, so cursors and guards remain valid after a rotation.
  const digestRoot = yield* dataKeys.forSealing(digestRootKind, "", { ageless: true })
  const digestOf = yield* provided(digestFor)
  const digests = new Map<string, (text: string) => string>()
  const mac = (purpose: string, text: string) =>
    Effect.suspend(() => {
      const known = digests.get(purpose)
      if (known !== undefined) return Effect.succeed(known(text))
      return Effect.map(digestOf(digestRoot, purpose), (digest) => {
        digests.set(purpose, digest)
        return digest(text)
      })
    })

  const openWith = yield* provided(openEnvelope)
  const openHere = (context: SealContext, envelope: string) => openWith(dataKeys, context, envelope)
  const longNow = yield* provided(storedLong)
  const sealLong = yield* provided(sealParts)
  const sealLongAhead = yield* provided(sealPartsAhead)
  const storeAhead = yield* provided(storeParts)

  /** Logs only the location, because the cause is the same for every value. */
  const logFault = (context: SealContext) =>
    Effect.logError(
      `Integrity fault: ${context.table}.${context.column} of ${context.rowId} does not open in its place. It was changed or moved; see svc doctor.`
    )

  const open = (context: SealContext, envelope: string) =>
    Effect.tapError(openHere(context, envelope), () => logFault(context))

  const openStored = Effect.fn("Vault.openStored")(function* (context: SealContext, read: string) {
    let envelope = read
    while (partsKeyOf(envelope) !== undefined) {
      const opened = yield* Effect.option(openHere(context, envelope))
      if (Option.isSome(opened)) return opened
      const present = yield* longNow(context)
      if (present === null) return Option.none()
      if (present === envelope) {
        yield* logFault(context)
        return yield* VaultOpenFailed.anywhere()
      }
      envelope = present
    }
    return Option.some(yield* open(context, envelope))
  })

  const sealWhole = yield* provided(
    Effect.fnUntraced(function* (key: DataKey, context: SealContext, bytes: Uint8Array) {
      return `v1.${key.id}.${yield* sealBytes(key.secret, identity(valueIdentity(key.id, context)), bytes)}`
    })
  )
  const masterKeysNow = yield* provided(() => masterKeysInUse)

  const startKey = Effect.fnUntraced(function* (file: string) {
    const { keys } = yield* Ref.get(keyring)
    const next = yield* makeKeyring([
      yield* generateMasterKey,
      ...keys.map((key) => ({ ...key, status: "decrypt-only" as const }))
    ])
    // Writes the key to disk before anything is wrapped with it.
    yield* writeKeyringFile(file, next)
    yield* Ref.set(keyring, next)
  })

  const forget = Effect.fnUntraced(function* (file: string) {
    const { active, keys } = yield* Ref.get(keyring)
    // Uses a transaction, so that no data key can be wrapped with an old master key in the meantime.
    yield* Effect.gen(function* () {
      const wrapping = yield* masterKeysInUse
      if (wrapping.some(({ id }) => id !== active.id)) {
        return yield* VaultLocked.because("Older master keys are still needed. Rotate again, then forget them.")
      }
      const next = yield* makeKeyring([active])
      yield* writeKeyringFile(file, next)
      yield* Ref.set(keyring, next)
    }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
    return keys.filter((key) => key.id !== active.id).map((key) => key.id)
  })

  const rotateMasterKey = yield* provided(
    Effect.fn("Vault.rotateMasterKey")(function* (options?: { readonly forgetRetired: boolean }) {
      const before = yield* Ref.get(keyring)
      const pending = (yield* masterKeysInUse).some(({ id }) => id !== before.active.id)
      if (!pending) {
        if (source.kind !== "file") {
          return yield* VaultLocked.because(
            `All secrets are under ${before.active.id} already. Give a new master key first, followed by the present one, and restart.`
          )
        }
        yield* startKey(source.file)
      }
      const rewrapped = yield* dataKeys.rewrapAll
      const forgotten = options?.forgetRetired === true && source.kind === "file" ? yield* forget(source.file) : []
      const { active } = yield* Ref.get(keyring)
      return { activeKeyId: active.id, rewrapped, resumed: pending, forgotten } satisfies Rotation
    }, rotating.withPermit)
  )

  /** Values that were sealed ahead, with their locations. Each lasts while its bytes are in memory. */
  const ahead = new WeakMap<Uint8Array, { readonly place: string; readonly sealed: SealedAhead }>()
  const placeOf = (context: SealContext) => JSON.stringify(valueIdentity("", context))

  return Vault.of({
    sealAhead: Effect.fn("Vault.sealAhead")(function* (context, plain) {
      const bytes = Redacted.value(plain)
      if (!isSealedAhead(bytes)) return
      const key = yield* dataKeys.forSealing(context.table, context.workspaceId ?? "")
      const sealed = isLong(context, bytes)
        ? yield* sealLongAhead(key, context, bytes)
        : { text: yield* sealWhole(key, context, bytes), parts: [] }
      ahead.set(bytes, { place: placeOf(context), sealed })
    }),
    seal: Effect.fnUntraced(function* (context, plain) {
      const value = Redacted.value<string | Uint8Array>(plain)
      const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value
      const known = ahead.get(bytes)
      if (known !== undefined) {
        // Used once, because equal sealed values would reveal that their contents are equal.
        ahead.delete(bytes)
        if (known.place === placeOf(context)) return yield* storeAhead(known.sealed)
      }
      const key = yield* dataKeys.forSealing(context.table, context.workspaceId ?? "")
      if (isLong(context, bytes)) return yield* sealLong(key, context, bytes)
      return yield* sealWhole(key, context, bytes)
    }),
    prepare: (workspaceId, tables) =>
      Effect.forEach(tables, (table) => dataKeys.forSealing(table, workspaceId), { discard: true }),
    open,
    openStored,
    openText: Effect.fnUntraced(function* (context, envelope) {
      const bytes = yield* open(context, envelope)
      return Redacted.make(new TextDecoder().decode(Redacted.value(bytes)))
    }),
    inOneText: Effect.fn("Vault.inOneText")(function* (context, envelope) {
      const keyId = partsKeyOf(envelope)
      if (keyId === undefined) return envelope
      const bytes = Redacted.value(yield* open(context, envelope))
      return yield* sealWhole(yield* dataKeys.forOpening(keyId), context, bytes)
    }),
    foreign: Effect.fn("Vault.foreign")(function* (keys) {
      const { keys: available } = yield* Ref.get(keyring)
      const keyIds = [...new Set(keys.map(({ masterKeyId }) => masterKeyId))].filter(
        (id) => !available.some((key) => key.id === id)
      )
      if (keyIds.length > 0)
        return yield* new VaultLocked({ message: `The master keys ${keyIds.join(", ")} are missing.`, keyIds })
      const foreignKeys = dataKeys.ofFile(keys)
      // A damaged file is not an integrity fault of this installation, so it is not logged.
      return (context, envelope) => openWith(foreignKeys, context, envelope)
    }),
    wrappedKeys: Effect.fn("Vault.wrappedKeys")((workspaceId, text) => dataKeys.wrappedIn(workspaceId, text)),
    mac,
    verifyMac: (purpose, text, digest) =>
      Effect.map(mac(purpose, text), (expected) => {
        const given = Buffer.from(digest)
        return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected))
      }),
    rotateMasterKey,
    keyIds: Effect.gen(function* () {
      const { active, keys } = yield* Ref.get(keyring)
      return {
        active: active.id,
        decryptOnly: keys.filter((key) => key.id !== active.id).map((key) => key.id),
        inUse: yield* masterKeysNow()
      }
    })
  })
})
