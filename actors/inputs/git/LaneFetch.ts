import { Effect, Schema } from "effect"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { storedRef } from "../../../runner/git/RefTarget.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { SnapshotSync } from "../../../runner/snapshot/SnapshotSync.ts"
import type { SyncedSnapshot } from "../../../runner/snapshot/SyncedSnapshot.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { UnreadSource } from "../../ledger/run/UnreadSource.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { makeFetchCredentials } from "./FetchCredentials.ts"
import { LaneUnavailable } from "./LaneUnavailable.ts"
import type { SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { ConnectionId } from "../../../schema/records/Ids.ts"

/** The parameters of a sync. */
export const SyncSpec = Schema.Struct({
  url: Schema.String,
  ref: Schema.String,
  path: Schema.String,
  expectedCommit: Schema.optionalKey(Schema.String),
  authConnectionId: Schema.optionalKey(ConnectionId),
  intent: Schema.Literals(["observe", "manual_plan"]),
  /** True if a person requested a sync of the whole Source. In that case, all other lanes in use are checked as well. */
  everyLane: Schema.optionalKey(Schema.Boolean),
  ...UnreadSource
})
export type SyncSpec = typeof SyncSpec.Type

/** The result of fetching a lane: an existing snapshot or a new one. */
export type FetchedLane =
  | { readonly kind: "known"; readonly snapshot: SnapshotRow }
  | { readonly kind: "fetched"; readonly synced: SyncedSnapshot }

/**
 * Maps an error tag to the error code of a Run. The API uses the same codes; any other error becomes `source_sync_failed`.
 */
export const runErrorCode = (tag: string): string => {
  switch (tag) {
    case "GitRefAmbiguous":
      return "source_ref_ambiguous"
    case "GitRefNotFound":
      return "source_ref_not_found"
    case "GitRefMoved":
      return "source_ref_moved"
    case "GitRepositoryEmpty":
      return "source_empty"
    case "GitRepositoryNotFound":
      return "source_not_found"
    case "GitUnreachable":
      return "source_unreachable"
    case "GitAuthenticationFailed":
      return "source_authentication_failed"
    case "GitLimitExceeded":
      return "source_too_large"
    case "GitCredentialsWithheld":
      return "source_origin_refused"
    case "GitAddressRefused":
    case "GitRedirectRefused":
      return "source_address_refused"
    case "GitTimedOut":
      return "source_timed_out"
    default:
      return "source_sync_failed"
  }
}

/** Fetches a lane for a Run. If `reuse` is set, skips the fetch if the commit already has a snapshot. */
export const makeLaneFetch = Effect.gen(function* () {
  const snapshots = yield* SnapshotSync
  const remote = yield* GitRemote
  const policy = yield* GitPolicy
  const store = yield* SourceStore
  const credentialsOf = yield* makeFetchCredentials

  return (run: RunRow, spec: SyncSpec, reuse: boolean, onProgress: (line: string) => Effect.Effect<void>) =>
    Effect.gen(function* () {
      const url = yield* Effect.fromResult(fetchableAddress(spec.url, policy))
      const ref = yield* Effect.fromResult(storedRef(spec.ref))
      const credentials = yield* credentialsOf(run, spec)
      if (reuse && run.source_id !== null) {
        const { commit } = yield* remote.resolve({ url, ref, credentials })
        const snapshot = yield* store.snapshotOf(run.source_id, spec, commit)
        if (snapshot !== undefined) {
          yield* onProgress(`${spec.ref} is at commit ${commit}, which is here already.`)
          return { kind: "known", snapshot } satisfies FetchedLane
        }
      }
      const { expectedCommit, path } = spec
      const synced = yield* snapshots.sync({ url, ref, path, expectedCommit, credentials, onProgress })
      return { kind: "fetched", synced } satisfies FetchedLane
    }).pipe(
      Effect.mapError((error) =>
        error._tag === "LaneUnavailable"
          ? error
          : new LaneUnavailable({
              code: runErrorCode(error._tag),
              message: error.message,
              ofRequest: error._tag === "GitRefMoved" && spec.expectedCommit !== undefined
            })
      )
    )
})
