import { Effect, FileSystem, Option, Schema } from "effect"
import { Digest, Mac } from "effect/crypto"
import { deriveKey, type Keyring, type MasterKey } from "../../actors/base/vault/MasterKey.ts"
import type { loadKeyring } from "../../actors/base/vault/MasterKeyStore.ts"
import { contentBytes, placed } from "./BackupFiles.ts"
import { BackupManifest, StoredManifest, toCurrentManifest } from "./BackupManifest.ts"
import { BackupRefused } from "./BackupRefused.ts"
import { passOn, readAt } from "./FileRanges.ts"

/**
 * Mark at the end of a sealed backup, which consists of the database, the files, a manifest with the digests of each file and of
 * each block of the database, the keyed digest of the manifest, the manifest's length, and this mark. SQLite reads only the
 * database at the start of the file.
 */
const mark = new TextEncoder().encode("svc-backup-seal1")
const macBytes = 32
const lengthBytes = 4
const footBytes = macBytes + lengthBytes + mark.length

const blockBytes = 4 * 1024 * 1024
// Maximum size of a manifest, large enough for the digests of a database of several terabytes.
const largestManifest = 64 * 1024 * 1024

const macPurpose = "svc/backup/manifest/v1"

/** Loads the master keys. Evaluated only for sealed backups. */
export type MasterKeys = Effect.Effect<Keyring, BackupRefused, Effect.Services<ReturnType<typeof loadKeyring>>>

/** The contents of a manifest except the digests of the database. */
export type BackupFacts = Omit<BackupManifest, "format" | "masterKeyId" | "blockBytes" | "blocks">

const blockDigest = Effect.fnUntraced(function* (file: FileSystem.File, index: number, bytes: number, total: number) {
  const digest = yield* Digest.Digest
  const offset = index * bytes
  return yield* digest.digestHex(
    Digest.sha256,
    yield* readAt(file, offset, Math.max(0, Math.min(bytes, total - offset)))
  )
})

const keyedDigest = Effect.fnUntraced(function* (master: MasterKey, manifest: Uint8Array) {
  const mac = yield* Mac.Mac
  const key = yield* Mac.key(Mac.hmacSha256, yield* deriveKey(master.secret, macPurpose))
  return yield* mac.sign(key, manifest)
}, Effect.orDie)

/** Seals a file with the active master key, by appending to it. The file must not be open. `facts` describes its contents. */
export const sealBackup = Effect.fn("sealBackup")(function* (path: string, keyring: Keyring, facts: BackupFacts) {
  const fs = yield* FileSystem.FileSystem
  const { databaseBytes } = facts
  const count = Math.ceil(databaseBytes / blockBytes)
  const blocks = yield* Effect.scoped(
    Effect.flatMap(fs.open(path, { flag: "r" }), (file) =>
      Effect.forEach(Array.from({ length: count }), (_, index) => blockDigest(file, index, blockBytes, databaseBytes))
    )
  )
  const manifest = new TextEncoder().encode(
    yield* Effect.orDie(
      Schema.encodeEffect(Schema.fromJsonString(BackupManifest))({
        format: "svc.backup@v2",
        ...facts,
        masterKeyId: keyring.active.id,
        blockBytes,
        blocks
      })
    )
  )
  const foot = new Uint8Array(footBytes)
  const digest = yield* keyedDigest(keyring.active, manifest)
  foot.set(digest, 0)
  new DataView(foot.buffer).setUint32(macBytes, manifest.length)
  foot.set(mark, macBytes + lengthBytes)
  yield* Effect.scoped(
    Effect.flatMap(fs.open(path, { flag: "a" }), (file) => Effect.andThen(file.writeAll(manifest), file.writeAll(foot)))
  )
})

const remedy = "Nothing was restored. Restore another backup, or fetch this one again from where it is kept."

const refuse = (part: string) =>
  new BackupRefused({ message: `The backup was changed after it was written: ${part}. ${remedy}` })

/** Returns the file's seal, without checking it. Returns `none` if the file does not end with a seal. */
const sealOf = Effect.fnUntraced(function* (file: FileSystem.File, size: number) {
  if (size < footBytes) return Option.none()
  const foot = yield* readAt(file, size - footBytes, footBytes)
  if (!mark.every((byte, index) => foot[macBytes + lengthBytes + index] === byte)) return Option.none()
  const length = new DataView(foot.buffer, foot.byteOffset).getUint32(macBytes)
  const start = size - footBytes - length
  if (length > largestManifest || start < 0) return yield* refuse("the length of its manifest does not fit the file")
  return Option.some({ mac: foot.subarray(0, macBytes), start, manifest: yield* readAt(file, start, length) })
})

/**
 * Checks a sealed backup with the master keys and returns its manifest, or `none` if the file has no seal. Fails with
 * `BackupRefused`, whose message identifies the changed part or the missing key.
 */
export const checkSeal = Effect.fn("checkSeal")(function* (path: string, keys: MasterKeys) {
  const fs = yield* FileSystem.FileSystem
  const size = Number((yield* fs.stat(path)).size)
  const file = yield* fs.open(path, { flag: "r" })
  const seal = Option.getOrUndefined(yield* sealOf(file, size))
  if (seal === undefined) return Option.none<BackupManifest>()
  const manifest = toCurrentManifest(
    yield* Schema.decodeEffect(StoredManifest)(new TextDecoder().decode(seal.manifest)).pipe(
      Effect.mapError(() => refuse("its manifest cannot be read"))
    )
  )
  const { masterKeyId } = manifest
  const keyring = yield* keys
  const master = keyring.keys.find(({ id }) => id === masterKeyId)
  if (master === undefined) {
    return yield* new BackupRefused({
      message: `The backup was written with the master key ${masterKeyId}, and these settings give ${keyring.keys.map(({ id }) => id).join(", ")}. Give that key too; without it neither the backup can be checked nor its secrets be opened. Nothing was restored.`
    })
  }
  if (!Mac.timingSafeEqual(yield* keyedDigest(master, seal.manifest), seal.mac)) {
    return yield* refuse("its manifest does not match the keyed digest")
  }
  const expectedBytes = contentBytes(manifest)
  if (expectedBytes !== seal.start) {
    return yield* refuse(
      `there are ${seal.start} bytes before its manifest instead of ${expectedBytes}, so something was cut out or put in`
    )
  }
  for (const [index, expected] of manifest.blocks.entries()) {
    const actual = yield* blockDigest(file, index, manifest.blockBytes, manifest.databaseBytes)
    if (actual !== expected) {
      const from = index * manifest.blockBytes
      const to = Math.min(from + manifest.blockBytes, manifest.databaseBytes) - 1
      return yield* refuse(
        `block ${index + 1} of ${manifest.blocks.length} of its database (bytes ${from} to ${to}) is not what was sealed`
      )
    }
  }
  for (const { entry, offset } of placed(manifest)) {
    const { sha256 } = yield* passOn(file, offset, entry.sizeBytes, () => Effect.void)
    if (sha256 !== entry.sha256) return yield* refuse(`the ${entry.kind} ${entry.digest} in it is not what was sealed`)
  }
  return Option.some(manifest)
}, Effect.scoped)
