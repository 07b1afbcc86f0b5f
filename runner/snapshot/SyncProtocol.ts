import { Schema } from "effect"
import { GitCredentials } from "../git/GitCredentials.ts"
import { GitEndpoint } from "../git/GitEndpoint.ts"
import { GitError } from "../git/GitError.ts"
import { SnapshotError } from "./SnapshotError.ts"
import { SyncedSnapshot } from "./SyncedSnapshot.ts"

/**
 * The message that the fetching process reads from its standard input: one line of JSON. The input then remains open; if it
 * closes, nobody waits for the result. All sizes are in bytes, times in milliseconds.
 */
export const SyncJob = Schema.Struct({
  endpoint: GitEndpoint,
  /** The object to fetch, and the commit to which it must peel. */
  oid: Schema.String,
  commit: Schema.String,
  /** As entered by the user. */
  ref: Schema.String,
  fullRef: Schema.optionalKey(Schema.String),
  path: Schema.String,
  credentials: Schema.optionalKey(GitCredentials.Handed),
  /** The path of an installed git for the fetch, and the choice whether to fall back if it fails. */
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

/** The name of the archive in the folder. */
export const archiveName = "archive.tar.zst"

/** The output of the process: one JSON document. Progress lines go to standard error. */
export const SyncOutcome = Schema.Union([
  Schema.Struct({ status: Schema.Literal("synced"), snapshot: SyncedSnapshot }),
  Schema.Struct({ status: Schema.Literal("failed"), error: Schema.Union([GitError, SnapshotError]) })
])
export type SyncOutcome = typeof SyncOutcome.Type

export const SyncJobText = Schema.fromJsonString(SyncJob)
export const SyncOutcomeText = Schema.fromJsonString(SyncOutcome)
