import { Context, Effect, FileSystem, Layer, Option, type PlatformError, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { BlobKind, Digest } from "../../../schema/agent/Blob.ts"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { rowShape, table } from "../../base/database/Table.ts"
import { now } from "../../base/Identity.ts"
import { SharedDatabase } from "../../base/node/Nodes.ts"

const columns = { run_id: RunId, fence: Schema.Int, kind: BlobKind, digest: Digest }

/** A complete blob that is also stored in the database. */
export const SharedBlobRow = table("agent_blobs", { ...columns, parts: Schema.Int, stored_at: Timestamp })

export const SharedBlobPartRow = table("agent_blob_parts", { ...columns, part: Schema.Int, bytes: Schema.Uint8Array })

const Part = rowShape({ bytes: Schema.Uint8Array })

/** Size of a part. Each part is written by a single statement that does not take the database's write lock. */
const partBytes = 1024 * 1024

/** The name of the database copy of a blob that an agent uploaded. */
export interface BlobName {
  readonly claim: typeof RunClaim.Type
  readonly kind: typeof BlobKind.Type
  readonly digest: string
}

/**
 * Copies of uploaded blobs in the database. The copies are needed if several servers share the database, because an agent
 * may send a file to one server and its result to another. The blobs are encrypted, and each server checks their digests. A
 * single server keeps only the files.
 */
export class SharedBlobs extends Context.Service<
  SharedBlobs,
  {
    /** Copies a complete file to the database. */
    readonly publish: (name: BlobName, file: string) => Effect.Effect<void, SqlError | PlatformError.PlatformError>
    /** Returns true if the database contains a copy. */
    readonly has: (name: BlobName) => Effect.Effect<boolean, SqlError>
    /** Writes the copy to a file. */
    readonly fetch: (name: BlobName, file: string) => Effect.Effect<void, SqlError | PlatformError.PlatformError>
    readonly remove: (claim: BlobName["claim"], only?: Pick<BlobName, "digest" | "kind">) => Effect.Effect<void>
    /** Removes the copies for claims that no longer exist or that ended before this time. */
    readonly removeEnded: (before: string) => Effect.Effect<void>
  }
>()("svc/actors/running/agent/SharedBlobs") {
  static readonly layer = Layer.effect(
    SharedBlobs,
    Effect.gen(function* () {
      return (yield* SharedDatabase) ? yield* inDatabase : none
    })
  )
}

const none = SharedBlobs.of({
  publish: () => Effect.void,
  has: () => Effect.succeed(false),
  fetch: () => Effect.void,
  remove: () => Effect.void,
  removeEnded: () => Effect.void
})

const inDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* FileSystem.FileSystem
  const keyOf = ({ claim, digest, kind }: BlobName) => ({
    run_id: claim.runId,
    fence: claim.fence,
    kind,
    digest: Digest.make(digest)
  })
  const isNamed = (name: BlobName) => {
    const { digest, fence, kind, run_id } = keyOf(name)
    return sql`run_id = ${run_id} AND fence = ${fence} AND kind = ${kind} AND digest = ${digest}`
  }
  const found = (name: BlobName) =>
    SharedBlobRow.some(sql, "parts")`SELECT parts FROM agent_blobs WHERE ${isNamed(name)}`

  const publish = Effect.fn("SharedBlobs.publish")(function* (name: BlobName, file: string) {
    if ((yield* found(name)).length > 0) return
    // Parts may exist already, because an earlier attempt to store the copy may have been interrupted.
    yield* sql`DELETE FROM agent_blob_parts WHERE ${isNamed(name)}`
    const parts = yield* Stream.runFoldEffect(
      files.stream(file, { chunkSize: partBytes }),
      () => 0,
      (part, bytes) =>
        Effect.as(
          sql`INSERT INTO agent_blob_parts ${SharedBlobPartRow.values(sql, { ...keyOf(name), part, bytes })}`,
          part + 1
        )
    )
    const row = { ...keyOf(name), parts, stored_at: yield* now }
    yield* sql`INSERT INTO agent_blobs ${SharedBlobRow.values(sql, row)}`
  })

  const fetch = Effect.fn("SharedBlobs.fetch")(function* (name: BlobName, file: string) {
    const [{ parts } = { parts: 0 }] = yield* found(name)
    const read = Stream.range(0, parts - 1).pipe(
      Stream.mapEffect((part) =>
        Effect.map(
          Part.rows(sql)`SELECT bytes FROM agent_blob_parts WHERE ${isNamed(name)} AND part = ${part}`,
          ([row]) => row?.bytes ?? new Uint8Array()
        )
      )
    )
    yield* Stream.run(parts === 0 ? Stream.empty : read, files.sink(file, { flag: "w", mode: 0o600 }))
  })

  const remove = Effect.fnUntraced(function* (claim: BlobName["claim"], only?: Pick<BlobName, "digest" | "kind">) {
    const chosen = Option.match(Option.fromUndefinedOr(only), {
      onNone: () => sql`run_id = ${claim.runId} AND fence = ${claim.fence}`,
      onSome: ({ digest, kind }) => isNamed({ claim, digest, kind })
    })
    yield* sql`DELETE FROM agent_blobs WHERE ${chosen}`
    yield* sql`DELETE FROM agent_blob_parts WHERE ${chosen}`
  }, Effect.orDie)

  const removeEnded = Effect.fnUntraced(function* (before: string) {
    const isKept = (alias: string) =>
      sql.literal(`EXISTS (SELECT 1 FROM agent_runs r WHERE r.run_id = ${alias}.run_id AND r.fence = ${alias}.fence`)
    yield* sql`DELETE FROM agent_blobs WHERE NOT ${isKept("agent_blobs")}
      AND (r.ended_at IS NULL OR r.ended_at >= ${before}))`
    yield* sql`DELETE FROM agent_blob_parts WHERE NOT ${isKept("agent_blob_parts")}
      AND (r.ended_at IS NULL OR r.ended_at >= ${before}))`
  }, Effect.orDie)

  const has = (name: BlobName) => Effect.map(found(name), ({ length }) => length > 0)

  return SharedBlobs.of({ publish, has, fetch, remove, removeEnded })
})
