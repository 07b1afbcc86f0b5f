import { Context, type Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** Operations on the file of the embedded database: backup, checkpoint, integrity. */
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
    /** Problems found in the file, one per line; empty when it is sound. */
    readonly integrityCheck: Effect.Effect<ReadonlyArray<string>, SqlError>
  }
>()("svc/database/DatabaseFile") {}
