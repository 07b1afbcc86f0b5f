import { Context, Effect, Layer, Schema } from "effect"
import { storedRef } from "../../../runner/git/RefTarget.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { SnapshotSync } from "../../../runner/snapshot/SnapshotSync.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import type { SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { type FetchedBy, makeFetchCredentials } from "./FetchCredentials.ts"

/** The files of a recorded commit are not stored, and its repository no longer provides them. */
class SnapshotUnavailable extends Schema.TaggedError<SnapshotUnavailable>()("SnapshotUnavailable", {
  message: Schema.String
}) {}

/** The files of recorded commits, for Runs that execute them and for owners who export them. */
export class StoredCommits extends Context.Service<
  StoredCommits,
  {
    /**
     * Ensures that the files of a recorded commit are stored intact. If they are missing or damaged, for example after a restore
     * without snapshots, fetches the commit again and accepts only the recorded bytes.
     */
    readonly ensure: (by: FetchedBy, snapshot: SnapshotRow) => Effect.Effect<void, SnapshotUnavailable>
  }
>()("svc/actors/inputs/git/StoredCommits") {
  static readonly layer = Layer.effect(
    StoredCommits,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const archives = yield* SnapshotStore
  const snapshots = yield* SnapshotSync
  const policy = yield* GitPolicy
  const store = yield* SourceStore
  const credentialsOf = yield* makeFetchCredentials

  const fetched = Effect.fnUntraced(function* (by: FetchedBy, snapshot: SnapshotRow) {
    const source = yield* store.find(snapshot.source_id)
    const url = yield* Effect.fromResult(fetchableAddress(snapshot.url, policy))
    const ref = yield* Effect.fromResult(storedRef(snapshot.ref))
    const commit = yield* Effect.fromResult(storedRef(snapshot.resolved_commit))
    const connection = source?.auth_connection_id ?? undefined
    const credentials = yield* credentialsOf(
      { ...by, source_id: snapshot.source_id },
      { url, ref: snapshot.ref, ...(connection === undefined ? {} : { authConnectionId: connection }) }
    )
    const { path, resolved_commit: expectedCommit } = snapshot
    return yield* snapshots.sync({ url, ref: commit, path, credentials }).pipe(
      // Tries the branch name, because some servers cannot provide a commit by its id.
      Effect.catchTag("GitRefNotFound", () => snapshots.sync({ url, ref, path, expectedCommit, credentials }))
    )
  })

  const ensure = Effect.fn("StoredCommits.ensure")(function* (by: FetchedBy, snapshot: SnapshotRow) {
    const digest = snapshot.archive_digest
    const fault = yield* archives.open(digest).pipe(
      Effect.as(undefined),
      Effect.catch(({ _tag }) => Effect.succeed(_tag === "SnapshotDamaged" ? "damaged" : "not stored here any more"))
    )
    if (fault === undefined) return
    const commit = snapshot.resolved_commit
    yield* Effect.logWarning(`The files of commit ${commit} are ${fault}; they are fetched again.`)
    const unavailable = (reason: string) =>
      new SnapshotUnavailable({
        message: `The files of commit ${commit} are ${fault}, and they cannot be fetched again from ${snapshot.url}: ${reason} Nothing was changed. Make the repository reachable with this commit, or restore a backup that holds its snapshots.`
      })
    const synced = yield* fetched(by, snapshot).pipe(Effect.mapError(({ message }) => unavailable(message)))
    if (synced.archiveDigest !== digest) {
      return yield* unavailable(`The commit has other contents there (${synced.archiveDigest} instead of ${digest}).`)
    }
  })

  return StoredCommits.of({ ensure })
})
