import { Schema } from "effect"
import { buildFileName } from "../../runner/execution/BuildFileName.ts"
import { snapshotFileName } from "../../runner/snapshot/SnapshotFileName.ts"
import { buildsName, snapshotsName } from "./DataFolder.ts"

const FileDigest = Schema.String.check(Schema.isPattern(/^sha256:[0-9a-f]{64}$/))

/** A file in the data folder next to the database, named after the digest of its contents. */
export const NeededFile = Schema.Struct({ kind: Schema.Literals(["snapshot", "build"]), digest: FileDigest })
export type NeededFile = typeof NeededFile.Type

/** A file in a backup. Its bytes follow the database and the preceding files. */
export const BackupEntry = Schema.Struct({
  ...NeededFile.fields,
  sizeBytes: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  /** SHA-256 of the file's bytes, in hex. */
  sha256: Schema.String
})
export type BackupEntry = typeof BackupEntry.Type

/** Returns the path of the file in the data folder. The digest in the path was validated when the manifest was parsed. */
export const placeOf = ({ digest, kind }: NeededFile): string =>
  kind === "snapshot" ? `${snapshotsName}/${snapshotFileName(digest)}` : `${buildsName}/${buildFileName(digest)}`

const sealed = {
  createdAt: Schema.String,
  /** Absent if an older release wrote the database. */
  installationId: Schema.optionalKey(Schema.String),
  schemaVersion: Schema.Int,
  /** Id of the master key used for the keyed digest. */
  masterKeyId: Schema.String,
  databaseBytes: Schema.Int,
  blockBytes: Schema.Int,
  /** SHA-256 of each block of the database, in hex. */
  blocks: Schema.Array(Schema.String)
}

const DatabaseOnly = Schema.Struct({ format: Schema.Literal("svc.backup@v1"), ...sealed })

export const BackupManifest = Schema.Struct({
  format: Schema.Literal("svc.backup@v2"),
  ...sealed,
  /** Release that wrote the backup. */
  release: Schema.optionalKey(Schema.String),
  /** Ids of the master keys needed to decrypt the database's secrets. */
  neededKeyIds: Schema.Array(Schema.String),
  /** `included` if the backup contains snapshots and builds. */
  files: Schema.Literals(["included", "left_out"]),
  entries: Schema.Array(BackupEntry),
  /** Files that existing Capsules need, but that were missing or damaged when the backup was written. */
  missing: Schema.Array(NeededFile)
})
/** The manifest of a backup. */
export type BackupManifest = typeof BackupManifest.Type

/** The manifest of a backup written by this release, or by an earlier release whose backups contain only the database. */
export const StoredManifest = Schema.fromJsonString(Schema.Union([BackupManifest, DatabaseOnly]))

/** Converts a manifest of an earlier release to the current form. */
export const toCurrentManifest = (stored: typeof StoredManifest.Type): BackupManifest =>
  stored.format === "svc.backup@v2"
    ? stored
    : {
        ...stored,
        format: "svc.backup@v2",
        neededKeyIds: [stored.masterKeyId],
        files: "left_out",
        entries: [],
        missing: []
      }
