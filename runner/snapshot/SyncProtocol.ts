import { Schema } from "effect"
import { GitCredentials } from "../git/GitCredentials.ts"
import { GitEndpoint } from "../git/GitEndpoint.ts"
import { GitError } from "../git/GitError.ts"
import { SnapshotError } from "./SnapshotError.ts"
import { SyncedSnapshot } from "./SyncedSnapshot.ts"

/**
 * The job that the fetching process reads from its standard input, as one line of JSON. Afterwards, the input remains open;
 * if it closes, the result is no longer needed. Sizes are in bytes, times in milliseconds.
 */
export const SyncJob = Schema.Struct({
  endpoint: GitEndpoint,
  /** The object to fetch, and the commit to which the object must peel. */
  oid: Schema.String,
  commit: Schema.String,
  /** The ref as the person entered it. */
  ref: Schema.String,
  fullRef: Schema.optionalKey(Schema.String),
  path: Schema.String,
  credentials: Schema.optionalKey(GitCredentials.Handed),
  /** The path of an installed git to use for the fetch, and a flag for whether a failure of git is final. */
  native: Schema.optionalKey(Schema.Struct({ program: Schema.String, required: Schema.Boolean })),
  limits: Schema.Struct({
    packBytes: Schema.Int,
    files: Schema.Int,
    fileBytes: Schema.Int,
    totalBytes: Schema.Int,
    depth: Schema.Int,
    idleMillis: Schema.Int
  }),
  /** An empty folder for everything, including the archive. */
  folder: Schema.String
})
export type SyncJob = typeof SyncJob.Type

/** The archive's file name in the folder. */
export const archiveName = "archive.tar.zst"

/** Output of the process: one JSON document. Progress goes to standard error. */
export const SyncOutcome = Schema.Union([
  Schema.Struct({ status: Schema.Literal("synced"), snapshot: SyncedSnapshot }),
  Schema.Struct({ status: Schema.Literal("failed"), error: Schema.Union([GitError, SnapshotError]) })
])
export type SyncOutcome = typeof SyncOutcome.Type

export const SyncJobText = Schema.fromJsonString(SyncJob)
export const SyncOutcomeText = Schema.fromJsonString(SyncOutcome)
