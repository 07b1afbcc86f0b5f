import { Context, type Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

export interface FilePages {
  readonly total: number
  readonly empty: number
}

/** Operations on the file of the embedded database: backup, checkpoint, space, integrity. */
export class DatabaseFile extends Context.Service<
  DatabaseFile,
  {
    /** Copies the live database to a new file, consistently and without stopping writers. */
    readonly backup: (file: string) => Effect.Effect<void, SqlError>
    /**
     * Moves the write-ahead log into the database and empties it, so that deleted private values are gone from disk. `false`
     * when a reader prevented it: the values are removed by the next checkpoint.
     */
    readonly checkpoint: Effect.Effect<boolean, SqlError>
    /** How many pages the file has, and how many of them hold nothing. */
    readonly pages: Effect.Effect<FilePages, SqlError>
    /** Returns at most this many empty pages to the file system. Does nothing to a file that `rebuild` has never seen. */
    readonly release: (pages: number) => Effect.Effect<void, SqlError>
    /**
     * Rewrites the file without empty pages, so that `release` works from now on. Temporarily needs the size of the file
     * again.
     */
    readonly rebuild: Effect.Effect<void, SqlError>
    /** Problems found in the file, one per line; empty when it is sound. */
    readonly integrityCheck: Effect.Effect<ReadonlyArray<string>, SqlError>
  }
>()("svc/database/DatabaseFile") {}
