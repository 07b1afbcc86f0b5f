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
     * Moves the write-ahead log into the database and empties it, so that deleted private values are gone from disk. `false` if a
     * reader prevented this: the next checkpoint then removes the values.
     */
    readonly checkpoint: Effect.Effect<boolean, SqlError>
    /** Number of pages of the file, and number of empty pages. */
    readonly pages: Effect.Effect<FilePages, SqlError>
    /**
     * Returns at most this many empty pages to the file system. Has no effect on a file that has never been through `rebuild`.
     */
    readonly release: (pages: number) => Effect.Effect<void, SqlError>
    /**
     * Rewrites the file without empty pages, after which `release` works. Temporarily needs as much free space as the file
     * occupies.
     */
    readonly rebuild: Effect.Effect<void, SqlError>
    /** Problems found in the file, one per line; empty when it is sound. */
    readonly integrityCheck: Effect.Effect<ReadonlyArray<string>, SqlError>
  }
>()("svc/actors/base/database/DatabaseFile") {}
