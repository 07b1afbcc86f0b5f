import { createHash } from "node:crypto"
import { Effect, Option, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../runner/git/GitPolicy.ts"
import { parseGitRef } from "../../runner/git/GitRef.ts"
import { parseGitUrl } from "../../runner/git/GitUrl.ts"
import { SnapshotSync } from "../../runner/snapshot/SnapshotSync.ts"
import type { SyncedSnapshot } from "../../runner/snapshot/SyncedSnapshot.ts"
import { parseRepositoryManifest } from "../../schema/manifest/ManifestParser.ts"
import { manifestRulesVersion } from "../../schema/manifest/ManifestRulesVersion.ts"
import { SourceSnapshotId } from "../../schema/records/Ids.ts"
import type { RepositoryManifestStatus } from "../../schema/records/Source.ts"
import { StaleReasons } from "../capsule/StaleReasons.ts"
import { ConnectionStore, effectiveStatus } from "../connection/ConnectionStore.ts"
import { gitCredentials } from "../connection/CredentialTest.ts"
import type { ConnectionUses } from "../connection/ConnectionUses.ts"
import { TokenRenewals } from "../connection/TokenRenewals.ts"
import { transaction } from "../database/Transaction.ts"
import { derivedId, now } from "../Identity.ts"
import { KillPoint } from "../run/KillPoint.ts"
import { cancelRun, failRun } from "../run/RunEnding.ts"
import type { RunExecution } from "../run/RunExecution.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"
import { RunResults } from "../run/RunResults.ts"
import { checkGitUse, fetchStarter } from "./GitConnectionUse.ts"
import { SourceStore } from "./SourceStore.ts"
import { type StagedSnapshot, StagedSnapshotJson } from "./StagedFindings.ts"

/** What a sync Run is asked to fetch. */
export const SyncSpec = Schema.Struct({
  url: Schema.String,
  ref: Schema.String,
  path: Schema.String,
  expectedCommit: Schema.optionalKey(Schema.String),
  authConnectionId: Schema.optionalKey(Schema.String),
  intent: Schema.Literals(["observe", "manual_plan"])
})
export type SyncSpec = typeof SyncSpec.Type
const decodeSpec = Schema.decodeUnknownEffect(Schema.fromJsonString(SyncSpec))
const encodeSnapshot = Schema.encodeEffect(StagedSnapshotJson)
const decodeUtf8 = Option.liftThrowable((bytes: Uint8Array) =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
)

/** A sync that could not even start. */
class SyncRefused extends Schema.TaggedError<SyncRefused>()("SyncRefused", {
  code: Schema.String,
  message: Schema.String
}) {}

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

/** The text of the manifest when it is text: its bytes and nothing else, so that parsing it again says the same. */
const documentOf = (bytes: Uint8Array): { readonly document?: string } =>
  Option.match(decodeUtf8(bytes), { onNone: () => ({}), onSome: (document) => ({ document }) })

const manifestStatus = (
  synced: SyncedSnapshot
): { readonly status: RepositoryManifestStatus; readonly document?: string } => {
  const found = synced.repositoryManifest
  if (found.status === "absent") return { status: { status: "absent" } }
  if (found.status === "refused") return { status: { status: "invalid", reason: found.reason } }
  const digest = `sha256:${createHash("sha256").update(found.bytes).digest("hex")}`
  const parsed = parseRepositoryManifest(found.bytes)
  if (Result.isFailure(parsed)) {
    const { apiVersion, message } = parsed.failure
    return {
      status: { status: "invalid", digest, reason: message, ...(apiVersion === undefined ? {} : { apiVersion }) },
      ...documentOf(found.bytes)
    }
  }
  return { status: { status: "valid", digest, apiVersion: parsed.success.apiVersion }, ...documentOf(found.bytes) }
}

/** Fetches a commit and records it as an immutable snapshot, or hands it to the coordinator that asked. */
export const makeSyncExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const snapshots = yield* SnapshotSync
  const policy = yield* GitPolicy
  const connections = yield* ConnectionStore
  const renewals = yield* TokenRenewals
  const store = yield* SourceStore
  const staleReasons = yield* StaleReasons
  const ledger = yield* RunLedger
  const killPoint = yield* KillPoint
  const results = yield* RunResults
  const handover = yield* RunHandover

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
      Effect.mapError(({ code, message }) => new SyncRefused({ code, message }))
    )
    const unrenewed = (yield* renewals.renew([connectionId])).get(connectionId)
    if (unrenewed !== undefined) {
      return yield* new SyncRefused({ code: "source_authentication_failed", message: unrenewed })
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
      return yield* new SyncRefused({
        code: "source_authentication_failed",
        message: `The Source's Git Connection cannot be used: it is ${row?.kind === "git_https" ? status : "not an HTTPS Git Connection of this Workspace"}.`
      })
    }
    if (row.origins === null)
      return yield* new SyncRefused({
        code: "connection_origins_unconfirmed",
        message: `The Git Connection "${row.display_name}" is sent nowhere until an owner or admin confirms its origins. Confirm them under Connections, then sync again.`
      })
    const credentials = gitCredentials(row, Redacted.value(yield* connections.secrets(row)))
    yield* connections.touch(row.id)
    return credentials
  })

  const settle = Effect.fnUntraced(function* (run: RunRow, spec: SyncSpec, synced: SyncedSnapshot) {
    const id = derivedId(SourceSnapshotId, "snap", run.id, "snapshot")
    const manifest = manifestStatus(synced)
    const staged: StagedSnapshot = {
      id,
      url: spec.url,
      ref: spec.ref,
      path: spec.path,
      resolvedCommit: synced.resolvedCommit,
      archiveDigest: synced.archiveDigest,
      archiveSizeBytes: synced.archiveSizeBytes,
      fileCount: synced.fileCount,
      omitted: synced.omitted,
      warnings: synced.warnings,
      repositoryManifest: { ...manifest.status, rulesVersion: manifestRulesVersion },
      ...(manifest.document === undefined ? {} : { manifestDocument: manifest.document }),
      createdByRunId: run.id,
      createdAt: yield* now
    }
    // An install plan has no Source yet: the snapshot waits for its initial commit.
    if (run.coordinator_kind === "install_plan") {
      yield* results.save(run.id, yield* Effect.orDie(encodeSnapshot(staged)))
    } else if (run.source_id !== null) {
      yield* store.insertSnapshot(run.workspace_id, run.source_id, staged)
      yield* staleReasons.laneMoved({
        sourceId: run.source_id,
        ref: spec.ref,
        path: spec.path,
        commit: staged.resolvedCommit,
        sourceSnapshotId: id
      })
      yield* handover.snapshotTaken({ sourceId: run.source_id, snapshotId: id, autoUpdate: spec.intent === "observe" })
    }
    yield* ledger.set(run.id, { source_snapshot_id: id, resolved_commit: staged.resolvedCommit })
    yield* ledger.move(run.id, {
      from: ["running"],
      to: "succeeded",
      event: "run.succeeded",
      data: { sourceSnapshotId: id, resolvedCommit: staged.resolvedCommit, fileCount: staged.fileCount }
    })
    yield* handover.finished(run)
  }, transaction(sql))

  const execution: RunExecution = Effect.fn("Run.sync")(function* (run, control) {
    const spec = yield* Effect.orDie(decodeSpec(run.spec))
    yield* control.sink.event("run.phase", { phase: "fetch" })
    yield* killPoint(`${run.type}.before-runner`)
    const fetched = yield* Effect.gen(function* () {
      const url = yield* Effect.fromResult(parseGitUrl(spec.url, policy))
      const ref = yield* Effect.fromResult(parseGitRef(spec.ref))
      return yield* snapshots.sync({
        url,
        ref,
        path: spec.path,
        expectedCommit: spec.expectedCommit,
        credentials: yield* credentialsOf(run, spec),
        onProgress: (line) => control.sink.log("fetch", "system", line)
      })
    }).pipe(
      Effect.map((synced) => ({ kind: "synced" as const, synced })),
      Effect.raceFirst(Effect.as(control.cancelRequested, { kind: "cancelled" as const })),
      Effect.catch((error) =>
        Effect.succeed({
          kind: "failed" as const,
          error: { code: error._tag === "SyncRefused" ? error.code : runErrorCode(error._tag), message: error.message }
        })
      )
    )
    yield* killPoint(`${run.type}.after-runner`)
    if (fetched.kind === "synced") return yield* settle(run, spec, fetched.synced)
    if (fetched.kind === "cancelled") return yield* transaction(sql)(cancelRun({ ledger, handover }, run))
    yield* control.sink.log("fetch", "system", fetched.error.message)
    yield* transaction(sql)(
      Effect.andThen(
        // A ref that a revision plan asked for says nothing of the Source.
        run.source_id === null || run.coordinator_id !== null
          ? Effect.void
          : store.syncFailed(run.source_id, { ref: spec.ref, path: spec.path }),
        failRun({ ledger, handover }, run, fetched.error)
      )
    )
  })
  return execution
})
