import { Schema } from "effect"

/** The requested path is not a folder in the commit. */
export class SnapshotPathNotFound extends Schema.TaggedError<SnapshotPathNotFound>()("SnapshotPathNotFound", {
  path: Schema.String,
  message: Schema.String
}) {}

/** The commit, or the requested folder, contains no regular file. */
export class SnapshotEmpty extends Schema.TaggedError<SnapshotEmpty>()("SnapshotEmpty", {
  path: Schema.String,
  message: Schema.String
}) {}

/** The commit contains a file name that cannot be stored safely. */
export class SnapshotPathRefused extends Schema.TaggedError<SnapshotPathRefused>()("SnapshotPathRefused", {
  message: Schema.String
}) {}

/** The fetching process could not be started, or exited without a result. */
export class SnapshotSyncFailed extends Schema.TaggedError<SnapshotSyncFailed>()("SnapshotSyncFailed", {
  message: Schema.String
}) {}

/** Reading or writing the disk failed. */
export class SnapshotStorageFailed extends Schema.TaggedError<SnapshotStorageFailed>()("SnapshotStorageFailed", {
  message: Schema.String
}) {}

/** No archive with this digest is stored. */
export class SnapshotMissing extends Schema.TaggedError<SnapshotMissing>()("SnapshotMissing", {
  archiveDigest: Schema.String,
  message: Schema.String
}) {}

/** The stored archive is damaged. */
export class SnapshotDamaged extends Schema.TaggedError<SnapshotDamaged>()("SnapshotDamaged", {
  archiveDigest: Schema.String,
  message: Schema.String
}) {}

/** Reasons why a fetched commit could not become a snapshot. The messages are written for users. */
export const SnapshotError = Schema.Union([
  SnapshotPathNotFound,
  SnapshotEmpty,
  SnapshotPathRefused,
  SnapshotSyncFailed,
  SnapshotStorageFailed
])
export type SnapshotError = typeof SnapshotError.Type
