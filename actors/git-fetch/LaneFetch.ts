import { Effect, Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { GitPolicy } from "../../runner/git/GitPolicy.ts"
import { storedRef } from "../../runner/git/RefTarget.ts"
import { GitRemote } from "../../runner/git/GitRemote.ts"
import { fetchableAddress } from "../../runner/git/FetchPolicy.ts"
import { SnapshotSync } from "../../runner/snapshot/SnapshotSync.ts"
import type { SyncedSnapshot } from "../../runner/snapshot/SyncedSnapshot.ts"
import { ConnectionStore, effectiveStatus } from "../connection/ConnectionStore.ts"
import { gitCredentials } from "../connection/CredentialTest.ts"
import type { ConnectionUses } from "../connection/ConnectionUses.ts"
import { TokenRenewals } from "../connection/TokenRenewals.ts"
import { now } from "../Identity.ts"
import type { RunRow } from "../run/RunRow.ts"
import { checkGitUse, fetchStarter } from "./GitConnectionUse.ts"
import { SourceStore } from "../source/SourceStore.ts"
import type { SnapshotRow } from "../source/SourceRow.ts"
import { ConnectionId } from "../../schema/records/Ids.ts"

/** What a sync Run is asked to fetch. */
export const SyncSpec = Schema.Struct({
  url: Schema.String,
  ref: Schema.String,
  path: Schema.String,
  expectedCommit: Schema.optionalKey(Schema.String),
  authConnectionId: Schema.optionalKey(ConnectionId),
  intent: Schema.Literals(["observe", "manual_plan"]),
  /** A person asked for the Source, not for one lane: every other lane in use is looked at too. */
  everyLane: Schema.optionalKey(Schema.Boolean)
})
export type SyncSpec = typeof SyncSpec.Type

/** Why a lane could not be fetched. */
export class LaneUnavailable extends Schema.TaggedError<LaneUnavailable>()("LaneUnavailable", {
  code: Schema.String,
  message: Schema.String,
  /** It concerns the request alone, not the lane. */
  ofRequest: Schema.Boolean
}) {}

/** What a lane is at: an existing snapshot, or a new one. */
export type FetchedLane =
  | { readonly kind: "known"; readonly snapshot: SnapshotRow }
  | { readonly kind: "fetched"; readonly synced: SyncedSnapshot }

/** Error codes of Runs that the API also knows as status codes; everything else is `source_sync_failed`. */
const runErrorCode = (tag: string): string => {
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

/** Fetches one lane for a Run; with `reuse`, a commit with an existing snapshot is not fetched again. */
export const makeLaneFetch = Effect.gen(function* () {
  const snapshots = yield* SnapshotSync
  const remote = yield* GitRemote
  const policy = yield* GitPolicy
  const connections = yield* ConnectionStore
  const renewals = yield* TokenRenewals
  const store = yield* SourceStore
  const services = yield* Effect.context<ConnectionStore | ConnectionUses | SqlClient.SqlClient>()

  const credentialsOf = Effect.fnUntraced(function* (run: RunRow, spec: SyncSpec) {
    const connectionId = spec.authConnectionId
    const workspaceId = run.workspace_id
    if (connectionId === undefined) return undefined
    const source = run.source_id === null ? undefined : yield* store.find(run.source_id)
    yield* checkGitUse(connectionId, fetchStarter(run, source), {
      workspaceId,
      url: spec.url,
      ref: spec.ref,
      source
    }).pipe(
      Effect.provideContext(services),
      Effect.mapError(
        ({ code, message }) => new LaneUnavailable({ code, message, ofRequest: run.trigger_kind === "user" })
      )
    )
    const unrenewed = (yield* renewals.renew([connectionId])).get(connectionId)
    if (unrenewed !== undefined) {
      return yield* new LaneUnavailable({
        code: "source_authentication_failed",
        message: unrenewed,
        ofRequest: false
      })
    }
    const row = yield* connections.find(connectionId)
    const status = row === undefined ? "missing" : effectiveStatus(row, yield* now)
    if (
      row === undefined ||
      row.workspace_id !== workspaceId ||
      row.kind !== "git_https" ||
      status === "revoked" ||
      status === "expired" ||
      status === "unconfirmed"
    ) {
      return yield* new LaneUnavailable({
        code: "source_authentication_failed",
        message: `The Source's Git Connection cannot be used: it is ${row?.kind === "git_https" ? status : "not an HTTPS Git Connection of this Workspace"}.`,
        ofRequest: false
      })
    }
    if (row.origins === null)
      return yield* new LaneUnavailable({
        code: "connection_origins_unconfirmed",
        message: `The Git Connection "${row.display_name}" is sent nowhere until an owner or admin confirms its origins. Confirm them under Connections, then sync again.`,
        ofRequest: false
      })
    const credentials = gitCredentials(row, Redacted.value(yield* connections.secrets(row)))
    yield* connections.touch(row.id)
    return credentials
  })

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
