import { Effect, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { headRef, parseGitRef } from "../../../schema/git/GitRef.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import {
  type ConnectionId,
  type InstallConfigId,
  InstallPlanId,
  RunId,
  type SourceId,
  type WorkspaceId
} from "../../../schema/records/Ids.ts"
import { type CommandContext, serviceContext } from "../../../schema/commands/Command.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { coordinatorUnderWay } from "../../../schema/tables/PlanTables.ts"
import { serve } from "../../Actor.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { checkForgeConnection } from "../../inputs/connection/ForgeConnections.ts"
import { checkGitConnection } from "../../inputs/connection/ConnectionOrigins.ts"
import { ConnectionUses } from "../../inputs/connection/ConnectionUses.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transacted, transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId, now } from "../../base/Identity.ts"
import { rowShape } from "../../base/database/Table.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import type { CheckSpec } from "../../running/execution/CheckExecution.ts"
import { type DeferredSync, DeferredSyncs } from "../../ledger/source/DeferredSyncs.ts"
import { checkGitUse, type GitFetch } from "../../inputs/git/GitConnectionUse.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { type Lane, SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { laneOf, queuedLook, type SyncRequest, syncSpec } from "./SyncRequest.ts"
import { noHookSecret, SourceStore, toSource } from "../../ledger/source/SourceStore.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"
import { ReviewedRefsJson, SnapshotRow, SourceRow } from "../../ledger/source/SourceRow.ts"
import { markReportsOfSource } from "../../ledger/pull-request-report/ReportMarks.ts"

const load = Effect.fnUntraced(function* (id: SourceId) {
  const row = yield* (yield* SourceStore).find(id)
  // Treats a removed Source as missing, because only the history still shows it.
  return row === undefined || row.removed_at !== null ? yield* notFound("Source") : row
})

const readRef = Effect.fnUntraced(function* (text: string) {
  const ref = parseGitRef(text)
  return Result.isFailure(ref) ? yield* invalidRequest(`defaultRef: ${ref.failure}`) : ref.success
})

/** Returns the same error for another Workspace's configuration as for an unknown configuration. */
const checkConfig = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  installConfigId: InstallConfigId | undefined
) {
  if (installConfigId === undefined) return
  const config = yield* (yield* InstallConfigStore).load(installConfigId)
  if (config === undefined || config.row.workspace_id !== workspaceId) {
    return yield* invalidRequest("installConfigId: the Workspace has no such InstallConfig.")
  }
})

const mayUse = Effect.fnUntraced(function* (
  context: CommandContext,
  connectionId: ConnectionId | null | undefined,
  fetch: GitFetch
) {
  if (connectionId == null) return
  yield* checkGitUse(connectionId, { subject: context.actor.subject, automatic: false }, fetch)
})

const started = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* RunQueue
  yield* sql.afterCommit(queue.wake)
  const row = yield* (yield* RunLedger).find(runId)
  return row === undefined ? yield* Effect.die(new Error(`Run ${runId} is gone`)) : toRun(row, yield* queue.place(row))
})

/**
 * Checks the Source when the Run is written, because requests from webhooks and the schedule do not go through the checks of
 * the routes.
 */
const usable = Effect.fnUntraced(function* (row: SourceRow, trigger: SyncRequest["trigger"]) {
  const stopped = followObstacle(row, trigger)
  if (stopped !== undefined) return yield* failedPrecondition(stopped)
  yield* refuseArchived(row.workspace_id)
})

const mintHookSecret = Effect.gen(function* () {
  const bytes = yield* (yield* SecureRandom.SecureRandom).randomBytes(32)
  return Redacted.make(Buffer.from(bytes).toString("base64url"))
})

const audited = Effect.fnUntraced(function* (
  id: SourceId,
  context: CommandContext,
  workspaceId: WorkspaceId,
  action: string,
  data: AuditData,
  runId?: RunId
) {
  yield* (yield* Audit).append({
    workspaceId,
    actor: context.actor,
    action,
    target: { kind: "source", id },
    runId,
    data,
    requestId: context.requestId
  })
})

/** Renews the webhook secret in the caller's transaction. The response is the only one that contains the new secret. */
const renew = Effect.fnUntraced(function* (
  id: SourceId,
  context: CommandContext,
  version: number,
  endFormerNow: boolean
) {
  const row = yield* load(id)
  if (row.hook_secret_version !== version) {
    return yield* new ApiError({
      code: "guard_conflict",
      message: `hookSecretVersion: the Source has ${row.hook_secret_version}, not ${version}. Somebody has renewed the secret since; read the Source again.`
    })
  }
  const secret = yield* mintHookSecret
  yield* (yield* SourceStore).renewHookSecret(row, secret, endFormerNow)
  yield* audited(id, context, row.workspace_id, "source.hook_secret.renew", { version: version + 1, endFormerNow })
  return { source: toSource(yield* load(id)), hookSecret: Redacted.value(secret) }
})

/** Runs in the caller's transaction. */
const startSync = Effect.fnUntraced(function* (id: SourceId, request: SyncRequest) {
  const { context, intent, trigger } = request
  const row = yield* load(id)
  yield* usable(row, request.trigger)
  const { path, ref } = laneOf(row, request.lane)
  const isLook = trigger === "webhook" || trigger === "schedule"
  const spec = yield* syncSpec(row, request)
  if (intent === "observe") yield* (yield* DeferredSyncs).queued(id, { ref, path })
  // For a webhook or schedule, the Run itself records why it cannot fetch, because there is no caller to return the error to.
  if (trigger === "user") {
    const fetch = { workspaceId: row.workspace_id, url: row.url, ref, source: row }
    yield* mayUse(context, row.auth_connection_id, fetch)
  }
  const isPersonsLook = trigger === "user" && request.lane !== undefined
  const waiting =
    isLook || isPersonsLook ? yield* queuedLook(id, spec, isPersonsLook ? "person" : "service") : undefined
  if (waiting !== undefined) return yield* started(waiting)
  yield* (yield* RunAdmission).admit({ workspaceId: row.workspace_id, type: "source_sync", trigger })
  const runId = yield* newId(RunId, "run")
  yield* (yield* RunLedger).insert({
    id: runId,
    workspaceId: row.workspace_id,
    type: "source_sync",
    sourceId: id,
    createdBy: context.actor.subject,
    trigger,
    quiet: isLook,
    spec
  })
  yield* (yield* SourceLanes).expected(id, { ref, path })
  // An automatic sync is recorded in the history only later, and only if it finds something new.
  if (!isLook) yield* audited(id, context, row.workspace_id, "source.sync", { intent, trigger }, runId)
  return yield* started(runId)
})

/** Runs in the caller's transaction. */
const defer = Effect.fnUntraced(function* (
  id: SourceId,
  context: CommandContext,
  trigger: DeferredSync["trigger"],
  lane: Lane | undefined
) {
  const row = yield* load(id)
  if (followObstacle(row, trigger) !== undefined) return
  const wanted = laneOf(row, lane)
  if (!(yield* (yield* DeferredSyncs).defer({ sourceId: id, ...wanted, trigger }))) return
  yield* Effect.logWarning(`A sync of ${id} is deferred: the queue of its Workspace is full.`)
  yield* audited(id, context, row.workspace_id, "source.sync_deferred", { ...wanted, trigger })
})

// Declares only the id, because the InstallPlan model is in a higher layer.
const OpenInstall = rowShape({ id: InstallPlanId })

/** Maximum number of users in the message. If there are more, the message contains only their number. */
const mostNamedUsers = 10

/** Finds the users of a Source: existing Capsules and installs in progress. */
const usersOf = Effect.fnUntraced(function* (id: SourceId) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleRow.some(sql, "name", "environment")`SELECT name, environment FROM capsules
    WHERE source_id = ${id} AND ${sql.literal(livingCapsule())} ORDER BY name, id`
  const installs = yield* OpenInstall.rows(sql)`SELECT id FROM install_plans
    WHERE source_id = ${id} AND ${sql.literal(coordinatorUnderWay)} ORDER BY id`
  const named = [
    ...capsules.map(({ environment, name }) => `the Capsule ${name} (${environment})`),
    ...installs.map((install) => `the install plan ${install.id}`)
  ]
  const more = named.length - mostNamedUsers
  return more > 0 ? [...named.slice(0, mostNamedUsers), `${more} more`] : named
}, Effect.orDie)

/** Fails while a sync or check is in progress, because it would later write to a removed Source. */
const openRun = Effect.fnUntraced(function* (id: SourceId) {
  const sql = yield* SqlClient.SqlClient
  const [open] = yield* RunRow.some(sql, "id", "type", "status")`SELECT id, type, status FROM runs
    WHERE source_id = ${id} AND status IN ('queued', 'running') ORDER BY queued_at, id LIMIT 1`
  return open
}, Effect.orDie)

const refuseMoving = Effect.fnUntraced(function* (id: SourceId) {
  const open = yield* openRun(id)
  if (open === undefined) return
  return yield* new ApiError({
    code: "run_conflict",
    message: `The Run ${open.id} (${open.type}) of this Source is ${open.status}. Wait for it or cancel it.`
  })
})

/**
 * Retires a Source: removes its webhook secret, schedule and Connection, and all snapshots and reports except those of ended
 * Capsules. Returns true if it dropped snapshots, because their archives may then no longer be needed.
 */
const removeRows = Effect.fnUntraced(function* (row: SourceRow) {
  const sql = yield* SqlClient.SqlClient
  const store = yield* SourceStore
  yield* store.update(row.id, {
    status: "disabled",
    hook_secret: noHookSecret,
    former_hook_secret: null,
    former_hook_secret_until: null,
    auto_sync: 0,
    auth_connection_id: null,
    auth_connection_by: null,
    forge_connection_id: null,
    removed_at: yield* now
  })
  for (const table of ["deferred_syncs", "webhook_deliveries", "source_lanes"]) {
    yield* sql`DELETE FROM ${sql(table)} WHERE source_id = ${row.id}`
  }
  yield* markReportsOfSource(sql, row.id)
  yield* (yield* PullRequestStore).close(row.id)
  const evidence = sql`SELECT c.adopted_snapshot_id AS id FROM capsules c WHERE c.source_id = ${row.id}
      AND c.adopted_snapshot_id IS NOT NULL
    UNION SELECT v.source_snapshot_id FROM state_versions v JOIN capsules c ON c.id = v.capsule_id
      WHERE c.source_id = ${row.id} AND v.source_snapshot_id IS NOT NULL
    UNION SELECT i.source_snapshot_id FROM install_configs i JOIN capsules c ON c.id = i.capsule_id
      WHERE c.source_id = ${row.id} AND i.source_snapshot_id IS NOT NULL`
  yield* sql`DELETE FROM compatibility_reports WHERE source_id = ${row.id} AND source_snapshot_id NOT IN (${evidence})`
  const dropped = yield* SnapshotRow.some(sql, "id")`DELETE FROM source_snapshots
    WHERE source_id = ${row.id} AND id NOT IN (${evidence}) RETURNING id`
  return dropped.length > 0
}, Effect.orDie)

/** Removes the Source and records the removal in the history. Runs in the caller's transaction. */
const removeRecorded = Effect.fnUntraced(function* (
  row: SourceRow,
  { actor, requestId }: CommandContext,
  runId?: RunId
) {
  const freesArchives = yield* removeRows(row)
  yield* (yield* InstallConfigStore).dropUnreported(row.workspace_id)
  yield* (yield* Audit).append({
    workspaceId: row.workspace_id,
    actor,
    action: "source.remove",
    target: { kind: "source", id: row.id },
    runId,
    data: { name: row.name, url: row.url },
    requestId
  })
  return { freesArchives }
})

/**
 * Removes a Source if its first sync failed and nothing uses it. Clears `unread_due` in any case. Removes only a Source that
 * was created for this sync. If another sync is in progress, the Source is not removed before that sync has ended. Keeps a
 * Source that has been read, is used, or has been changed since (another ref, a Connection or a new webhook secret). Runs in
 * the caller's transaction.
 */
const removeUnread = Effect.fn("Source.removeUnread")(function* (id: SourceId) {
  const sources = yield* SourceStore
  const row = yield* sources.find(id)
  const runId = row?.unread_due ?? undefined
  if (row === undefined || runId === undefined) return
  yield* sources.setUnreadDue(id, null)
  if (row.removed_at !== null || row.last_synced_at !== null) return
  if (row.updated_at !== row.created_at) return
  if ((yield* openRun(id)) !== undefined || (yield* usersOf(id)).length > 0) return
  yield* removeRecorded(row, serviceContext, runId)
})

/** Removes an unused Source, with its webhook secret, schedule and unused snapshots. */
const removeSource = Effect.fnUntraced(function* (
  load: Effect.Effect<SourceRow, ApiError, SourceStore>,
  context: CommandContext
) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.gen(function* () {
    const row = yield* load
    const users = yield* usersOf(row.id)
    if (users.length > 0) {
      return yield* failedPrecondition(
        `The Source is used by ${users.join(", ")}. Destroy or release what came from it first, or disable the Source.`
      )
    }
    yield* refuseMoving(row.id)
    return yield* removeRecorded(row, context)
  }).pipe(transaction(sql))
})

/** The Source actors. Each manages one Git repository: its metadata, syncs and checks. */
const actors = serve(SourceCommands, {
  Create: Effect.fnUntraced(function* (id, { context, request }) {
    const address = fetchableAddress(request.url, yield* GitPolicy)
    if (Result.isFailure(address)) return yield* invalidRequest(`url: ${address.failure.message}`)
    const url = address.success
    const defaultRef = yield* readRef(request.defaultRef ?? headRef)
    yield* checkGitConnection("authConnectionId", request.workspaceId, request.authConnectionId, url)
    yield* mayUse(context, request.authConnectionId, {
      workspaceId: request.workspaceId,
      url,
      ref: defaultRef,
      source: undefined
    })
    const hookSecret = yield* mintHookSecret
    const row = yield* (yield* SourceStore).insert({
      id,
      workspaceId: request.workspaceId,
      name: request.name,
      url,
      defaultRef,
      defaultRefByManager:
        defaultRef === "HEAD" || (yield* (yield* ConnectionUses).isManager(context.actor.subject, request.workspaceId)),
      defaultPath: request.defaultPath ?? ".",
      authConnectionId: request.authConnectionId,
      createdBy: context.actor.subject,
      autoSync: request.autoSync ?? false,
      hookSecret
    })
    yield* audited(id, context, request.workspaceId, "source.create", { name: request.name })
    const answer = { source: toSource(row), hookSecret: Redacted.value(hookSecret) }
    if (request.firstSync === undefined) return answer
    const run = yield* startSync(id, {
      context,
      intent: "manual_plan",
      trigger: "user",
      removeUnread: request.firstSync.onFailure === "remove"
    })
    return { ...answer, run }
  }, transacted),

  Update: Effect.fnUntraced(function* (id, { context, request }) {
    const row = yield* load(id)
    const ofManagers =
      request.reviewedRefs !== undefined
        ? "reviewedRefs: only an owner or admin allows a ref to open private inputs and state."
        : request.pullRequests !== undefined
          ? "pullRequests: only an owner or admin decides which pull requests are planned."
          : request.forgeConnectionId !== undefined
            ? "forgeConnectionId: only an owner or admin lets svc write to a forge."
            : undefined
    if (
      ofManagers !== undefined &&
      !(yield* (yield* ConnectionUses).isManager(context.actor.subject, row.workspace_id))
    ) {
      return yield* new ApiError({ code: "permission_denied", message: `${ofManagers} Ask one of them.` })
    }
    yield* checkGitConnection("authConnectionId", row.workspace_id, request.authConnectionId, row.url)
    yield* checkForgeConnection(row.workspace_id, request.forgeConnectionId, row.url)
    const ref = request.defaultRef === undefined ? row.default_ref : yield* readRef(request.defaultRef)
    // The caller must have permission to use the Connection in order to attach it, to change what it fetches, or to automate
    // its use.
    const attached = request.authConnectionId === undefined ? row.auth_connection_id : request.authConnectionId
    if (request.authConnectionId !== undefined || request.autoSync === true || ref !== row.default_ref) {
      yield* mayUse(context, attached, { workspaceId: row.workspace_id, url: row.url, ref, source: row })
    }
    const byManager =
      request.defaultRef === undefined || (ref === row.default_ref && row.default_ref_by_manager === 1)
        ? row.default_ref_by_manager === 1
        : ref === "HEAD" || (yield* (yield* ConnectionUses).isManager(context.actor.subject, row.workspace_id))
    yield* (yield* SourceStore).update(id, {
      default_ref_by_manager: byManager ? 1 : 0,
      ...(request.name === undefined ? {} : { name: request.name }),
      ...(request.defaultRef === undefined ? {} : { default_ref: ref }),
      ...(request.defaultPath === undefined ? {} : { default_path: request.defaultPath }),
      ...(request.authConnectionId === undefined
        ? {}
        : {
            auth_connection_id: request.authConnectionId,
            auth_connection_by: request.authConnectionId === null ? null : (context.actor.subject ?? null)
          }),
      ...(request.forgeConnectionId === undefined ? {} : { forge_connection_id: request.forgeConnectionId }),
      ...(request.reviewedRefs === undefined
        ? {}
        : { reviewed_refs: ReviewedRefsJson.write([...new Set(request.reviewedRefs)]) }),
      ...(request.autoSync === undefined ? {} : { auto_sync: request.autoSync ? 1 : 0 }),
      ...(request.pullRequests === undefined
        ? {}
        : { pull_requests: request.pullRequests, pull_requests_by: context.actor.subject ?? null }),
      ...(request.status === undefined ? {} : { status: request.status })
    })
    // Drops deferred work, because a person has stopped the checks.
    if (request.autoSync === false || request.status === "disabled") {
      yield* (yield* DeferredSyncs).forget(id)
      yield* (yield* CapsuleLedger).forgetDeferred(id)
    }
    if (request.pullRequests !== undefined) {
      const pullRequests = yield* PullRequestStore
      yield* pullRequests.judgeAgain(id)
      if (request.pullRequests !== "off") yield* pullRequests.ask(row)
      yield* (yield* SqlClient.SqlClient).afterCommit((yield* DueWork).wake)
    }
    yield* markReportsOfSource(yield* SqlClient.SqlClient, id)
    yield* (yield* SourceLanes).settleStatus(id)
    yield* audited(id, context, row.workspace_id, "source.update", {
      fields: Object.keys(request),
      ...(request.reviewedRefs === undefined ? {} : { reviewedRefs: request.reviewedRefs }),
      ...(request.pullRequests === undefined ? {} : { pullRequests: request.pullRequests })
    })
    return toSource(yield* load(id))
  }, transacted),

  Remove: (id, { context }) => removeSource(load(id), context),

  Unread: (id) => removeUnread(id).pipe(transacted),

  RenewHookSecret: Effect.fnUntraced(function* (id, { context, endFormerNow, hookSecretVersion, idempotency }) {
    const row = yield* load(id)
    const create = renew(id, context, hookSecretVersion, endFormerNow === true)
    if (idempotency === undefined) return { replayed: false, ...(yield* create) }
    const { replayed, value } = yield* (yield* Receipts).once(
      { scope: row.workspace_id, actor: context.actorKey, route: `sources.renewHookSecret ${id}` },
      idempotency,
      {
        create: Effect.map(create, (value) => ({ value, receipt: { resultId: id, firstStatus: 201 } })),
        replay: () => Effect.map(load(id), (current) => ({ source: toSource(current) }))
      }
    )
    return { replayed, ...value }
  }, transacted),

  Sync: (id, payload) =>
    startSync(id, payload).pipe(
      transacted,
      // Defers the sync to the schedule, because no caller sees this error.
      Effect.tapError(({ code }) =>
        code === "rate_limited" && (payload.trigger === "webhook" || payload.trigger === "schedule")
          ? transacted(defer(id, payload.context, payload.trigger, payload.lane))
          : Effect.void
      )
    ),

  CheckCompatibility: Effect.fnUntraced(function* (id, { context, sourceSnapshotId, modulePath, installConfigId }) {
    const row = yield* load(id)
    const snapshot = yield* (yield* SourceStore).findSnapshot(sourceSnapshotId)
    if (snapshot === undefined || snapshot.source_id !== id) {
      return yield* invalidRequest("sourceSnapshotId: the Source has no such snapshot.")
    }
    yield* checkConfig(row.workspace_id, installConfigId)
    yield* (yield* RunAdmission).admit({ workspaceId: row.workspace_id, type: "compatibility_check", trigger: "user" })
    const compared = installConfigId === undefined ? {} : { installConfigId }
    const runId = yield* newId(RunId, "run")
    yield* (yield* RunLedger).insert({
      id: runId,
      workspaceId: row.workspace_id,
      type: "compatibility_check",
      sourceId: id,
      sourceSnapshotId,
      resolvedCommit: snapshot.resolved_commit,
      createdBy: context.actor.subject,
      trigger: "user",
      spec: { sourceId: id, snapshot: stagedOf(snapshot), modulePath, ...compared } satisfies CheckSpec
    })
    yield* audited(id, context, row.workspace_id, "source.compatibility_check", { modulePath, ...compared }, runId)
    return yield* started(runId)
  }, transacted)
})

const dueWork = Layer.effectDiscard(
  Effect.gen(function* () {
    const read = yield* ReadSql
    const sources = yield* SourceCommands
    yield* (yield* DueWork).serve({
      kind: "unread_source",
      due: Effect.orDie(
        SourceRow.some(read, "id", "workspace_id")`SELECT id, workspace_id FROM sources
          WHERE unread_due IS NOT NULL ORDER BY id`
      ),
      step: ({ id }) => sources.Unread(id)
    })
  })
)

export const layer = Layer.merge(actors, dueWork)
