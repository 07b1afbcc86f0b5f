import { Context, type Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

export interface FilePages {
  readonly total: number
  readonly empty: number
}

/** File operations of the embedded database: backup, checkpoint, free space and integrity. */
export class DatabaseFile extends Context.Service<
  DatabaseFile,
  {
    /** Copies the live database to a new file. The copy is consistent and does not block writers. */
    readonly backup: (file: string) => Effect.Effect<void, SqlError>
    /**
     * Writes the write-ahead log back into the database and truncates it, so that deleted private values are no longer on disk.
     * Returns `false` if a reader prevents this; in that case, the next checkpoint removes the values.
     */
    readonly checkpoint: Effect.Effect<boolean, SqlError>
    /** The number of all pages and of empty pages in the file. */
    readonly pages: Effect.Effect<FilePages, SqlError>
    /** Releases at most this many empty pages to the file system. Has no effect until the file has been rebuilt once. */
    readonly release: (pages: number) => Effect.Effect<void, SqlError>
    /**
     * Rewrites the file without empty pages, which also enables `release`. Temporarily needs as much free space as the file's
     * size.
     */
    readonly rebuild: Effect.Effect<void, SqlError>
    /** Returns the problems found in the file, one per line. Returns an empty list if there are none. */
    readonly integrityCheck: Effect.Effect<ReadonlyArray<string>, SqlError>
  }
>()("svc/actors/base/database/DatabaseFile") {}
