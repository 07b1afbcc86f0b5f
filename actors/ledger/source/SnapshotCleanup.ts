import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { SnapshotRow } from "./SourceRow.ts"
import { RunResultRow } from "../run/RunResults.ts"

const decodeStaged = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ archiveDigest: Schema.String })))

/**
 * Removes archives that a crash left without a record. Keeps the archives of installs in progress, which are referenced only
 * by the result of a Run.
 */
export const cleanUpSnapshots = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const store = yield* SnapshotStore
  const recorded = yield* SnapshotRow.some(sql, "archive_digest")`SELECT DISTINCT archive_digest FROM source_snapshots`
  const results = yield* RunResultRow.some(sql, "result")`SELECT result FROM run_results`
  const keep = new Set(recorded.map((row) => row.archive_digest))
  for (const { result } of results) {
    const staged = decodeStaged(result)
    if (staged._tag === "Some") keep.add(staged.value.archiveDigest)
  }
  yield* store.cleanUp(keep)
}).pipe(
  Effect.catch((error) => Effect.logWarning("Left-over snapshots could not be swept", error)),
  Effect.withSpan("cleanUpSnapshots")
)
