import { randomUUID } from "node:crypto"
import { Clock, Context, Effect, FileSystem, Layer, type PlatformError, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { rowShape, table } from "../../base/database/Table.ts"
import { withoutWriteLock } from "../../base/database/WriteLock.ts"
import { now } from "../../base/Identity.ts"
import { SharedDatabase } from "../../base/node/Nodes.ts"

const ArchiveKind = Schema.Literals(["snapshot", "build"])
type ArchiveKind = typeof ArchiveKind.Type

/** A complete archive that is stored in the database. */
export const SharedArchiveRow = table("shared_archives", {
  kind: ArchiveKind,
  digest: Schema.String,
  copy: Schema.String,
  parts: Schema.Int,
  stored_at: Timestamp
})

export const SharedArchivePartRow = table("shared_archive_parts", {
  copy: Schema.String,
  part: Schema.Int,
  stored_at: Timestamp,
  bytes: Schema.Uint8Array
})

const Part = rowShape({ bytes: Schema.Uint8Array })

/** Size of a part of an archive. Each part is written by a single statement that does not take the database's write lock. */
const partBytes = 1024 * 1024

/** The name of an archive. The on-disk store uses the same name. */
export interface ArchiveName {
  readonly kind: ArchiveKind
  readonly digest: string
}

/**
 * Stores copies of commit and build archives in a database that several servers share, because any server may need an
 * archive that another server has stored on its disk. The reader checks the digest. A single server stores archives only as
 * files.
 */
export class SharedArchives extends Context.Service<
  SharedArchives,
  {
    /** Copies a complete file to the database. If the database already has a copy, only refreshes the copy's time. */
    readonly publish: (name: ArchiveName, file: string) => Effect.Effect<void, SqlError | PlatformError.PlatformError>
    /** Writes the copy to a file. Returns false if there is no copy. */
    readonly fetch: (name: ArchiveName, file: string) => Effect.Effect<boolean, SqlError | PlatformError.PlatformError>
    /** Removes copies that are older than the given number of milliseconds and not listed in `keep`. */
    readonly cleanUp: (kind: ArchiveKind, keep: ReadonlySet<string>, olderThan: number) => Effect.Effect<void, SqlError>
  }
>()("svc/actors/ledger/archive/SharedArchives") {
  static readonly layer = Layer.effect(
    SharedArchives,
    Effect.gen(function* () {
      return (yield* SharedDatabase) ? yield* inDatabase : none
    })
  )
}

const none = SharedArchives.of({
  publish: () => Effect.void,
  fetch: () => Effect.succeed(false),
  cleanUp: () => Effect.void
})

const inDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* FileSystem.FileSystem

  const removeParts = (copy: string) => withoutWriteLock(sql`DELETE FROM shared_archive_parts WHERE copy = ${copy}`)

  const publish = Effect.fn("SharedArchives.publish")(function* ({ digest, kind }: ArchiveName, file: string) {
    const stored_at = yield* now
    const renewed = yield* SharedArchiveRow.some(sql, "copy")`UPDATE shared_archives SET stored_at = ${stored_at}
      WHERE kind = ${kind} AND digest = ${digest} RETURNING copy`
    if (renewed.length > 0) return
    const copy = randomUUID()
    const parts = yield* Stream.runFoldEffect(
      files.stream(file, { chunkSize: partBytes }),
      () => 0,
      (part, bytes) =>
        Effect.as(
          withoutWriteLock(
            sql`INSERT INTO shared_archive_parts ${SharedArchivePartRow.values(sql, { copy, part, stored_at, bytes })}`
          ),
          part + 1
        )
    )
    const row = SharedArchiveRow.values(sql, { kind, digest, copy, parts, stored_at })
    const written = yield* SharedArchiveRow.some(sql, "copy")`INSERT INTO shared_archives ${row}
      ON CONFLICT (kind, digest) DO NOTHING RETURNING copy`
    // Removes the parts of this copy if another server stored the archive first.
    if (written.length === 0) yield* removeParts(copy)
  })

  const fetch = Effect.fn("SharedArchives.fetch")(function* ({ digest, kind }: ArchiveName, file: string) {
    const [found] = yield* SharedArchiveRow.some(sql, "copy", "parts")`SELECT copy, parts FROM shared_archives
      WHERE kind = ${kind} AND digest = ${digest}`
    if (found === undefined) return false
    const { copy, parts } = found
    const read = Stream.range(0, parts - 1).pipe(
      Stream.mapEffect((part) =>
        Effect.map(
          Part.rows(sql)`SELECT bytes FROM shared_archive_parts WHERE copy = ${copy} AND part = ${part}`,
          ([row]) => row?.bytes ?? new Uint8Array()
        )
      )
    )
    yield* Stream.run(parts === 0 ? Stream.empty : read, files.sink(file, { flag: "w", mode: 0o600 }))
    return true
  })

  const cleanUp = Effect.fn("SharedArchives.cleanUp")(function* (
    kind: ArchiveKind,
    keep: ReadonlySet<string>,
    olderThan: number
  ) {
    const before = new Date((yield* Clock.currentTimeMillis) - olderThan).toISOString()
    const old = yield* SharedArchiveRow.some(sql, "digest")`SELECT digest FROM shared_archives
      WHERE kind = ${kind} AND stored_at < ${before}`
    for (const { digest } of old) {
      if (keep.has(digest)) continue
      // Compares the time again, because a server may have stored the same archive in the meantime.
      const removed = yield* SharedArchiveRow.some(sql, "copy")`DELETE FROM shared_archives
        WHERE kind = ${kind} AND digest = ${digest} AND stored_at < ${before} RETURNING copy`
      for (const { copy } of removed) yield* removeParts(copy)
    }
    // A server that was killed while writing a copy leaves parts without an archive.
    yield* sql`DELETE FROM shared_archive_parts WHERE stored_at < ${before}
      AND NOT EXISTS (SELECT 1 FROM shared_archives a WHERE a.copy = shared_archive_parts.copy)`
  })

  return SharedArchives.of({ publish, fetch, cleanUp })
})
