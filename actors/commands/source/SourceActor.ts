import { Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { headRef, parseGitRef } from "../../../schema/git/GitRef.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import {
  type ConnectionId,
  type InstallConfigId,
  RunId,
  SourceId,
  type WorkspaceId
} from "../../../schema/records/Ids.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import { actorLayer, commandsTo, handle } from "../../Actor.ts"
import { type AuditData, Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { checkGitConnection } from "../../inputs/connection/ConnectionOrigins.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { ConnectionUses } from "../../inputs/connection/ConnectionUses.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId } from "../../base/Identity.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { toRun } from "../../ledger/run/RunRow.ts"
import { refuseArchived } from "../../ledger/workspace/ArchivedWorkspace.ts"
import type { CheckSpec } from "../../running/execution/CheckExecution.ts"
import { type DeferredSync, DeferredSyncs } from "../../ledger/source/DeferredSyncs.ts"
import { checkGitUse, type GitFetch } from "../../inputs/git/GitConnectionUse.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { type Lane, SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { queuedLook } from "./QueuedLook.ts"
import { removeSource, removeUnread } from "./SourceRemoval.ts"
import { laneOf, type SyncRequest, syncSpec } from "./SyncRequest.ts"
import { SourceStore, toSource } from "../../ledger/source/SourceStore.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"
import { ReviewedRefsJson, SourceRow } from "../../ledger/source/SourceRow.ts"
import { captureServices, provideCaptured } from "../../CapturedServices.ts"

/** The Source actor: one Git address, its metadata, its syncs and checks. */
export const layer = actorLayer(
  SourceCommands,
  SourceId,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const policy = yield* GitPolicy
    const store = yield* SourceStore
    const connections = yield* ConnectionStore
    const configs = yield* InstallConfigStore
    const ledger = yield* RunLedger
    const queue = yield* RunQueue
    const admission = yield* RunAdmission
    const capsules = yield* CapsuleLedger
    const deferred = yield* DeferredSyncs
    const lanes = yield* SourceLanes
    const audit = yield* Audit
    const receipts = yield* Receipts
    const uses = yield* ConnectionUses
    const services = yield* captureServices(ConnectionStore, ConnectionUses, SqlClient.SqlClient)
    const removal = yield* captureServices(Audit, InstallConfigStore, SourceStore, SqlClient.SqlClient)
    const random = yield* SecureRandom.SecureRandom

    const due = yield* DueWork
    const read = yield* ReadSql
    const send = yield* commandsTo(SourceCommands)
    yield* due.serve({
      kind: "unread_source",
      due: Effect.orDie(
        SourceRow.some(read, "id", "workspace_id")`SELECT id, workspace_id FROM sources
          WHERE unread_due IS NOT NULL ORDER BY id`
      ),
      step: ({ id }) => send(id, "Unread", undefined)
    })

    const readRef = Effect.fnUntraced(function* (text: string) {
      const ref = parseGitRef(text)
      return Result.isFailure(ref) ? yield* invalidRequest(`defaultRef: ${ref.failure}`) : ref.success
    })

    const checkConnection = (workspaceId: WorkspaceId, connectionId: ConnectionId | null | undefined, url: string) =>
      Effect.provideService(
        checkGitConnection("authConnectionId", workspaceId, connectionId, url),
        ConnectionStore,
        connections
      )

    /** A configuration from another Workspace is refused like an unknown one. */
    const checkConfig = Effect.fnUntraced(function* (
      workspaceId: WorkspaceId,
      installConfigId: InstallConfigId | undefined
    ) {
      if (installConfigId === undefined) return
      const config = yield* configs.load(installConfigId)
      if (config === undefined || config.row.workspace_id !== workspaceId) {
        return yield* invalidRequest("installConfigId: the Workspace has no such InstallConfig.")
      }
    })

    const mayUse = (context: CommandContext, connectionId: ConnectionId | null | undefined, fetch: GitFetch) =>
      connectionId == null
        ? Effect.void
        : provideCaptured(
            checkGitUse(connectionId, { subject: context.actor.subject, automatic: false }, fetch),
            services
          )

    const started = Effect.fnUntraced(function* (runId: RunId) {
      yield* sql.afterCommit(queue.wake)
      const row = yield* ledger.find(runId)
      return row === undefined
        ? yield* Effect.die(new Error(`Run ${runId} is gone`))
        : toRun(row, yield* queue.place(row))
    })

    const mintRunId = newId(RunId, "run").pipe(Effect.provideService(SecureRandom.SecureRandom, random))

    /** Checked where the Run is written: webhooks and the schedule bypass the routes that would check this. */
    const usable = Effect.fnUntraced(function* (row: SourceRow, trigger: SyncRequest["trigger"]) {
      const stopped = followObstacle(row, trigger)
      if (stopped !== undefined) return yield* failedPrecondition(stopped)
      yield* Effect.provideService(refuseArchived(row.workspace_id), SqlClient.SqlClient, sql)
    })

    const mintHookSecret = Effect.map(random.randomBytes(32), (bytes) =>
      Redacted.make(Buffer.from(bytes).toString("base64url"))
    )

    return (id: SourceId) => {
      const load = Effect.gen(function* () {
        const row = yield* store.find(id)
        // A removed Source exists only in its history.
        return row === undefined || row.removed_at !== null ? yield* notFound("Source") : row
      })

      const audited = (
        context: CommandContext,
        workspaceId: WorkspaceId,
        action: string,
        data: AuditData,
        runId?: RunId
      ) =>
        audit.append({
          workspaceId,
          actor: context.actor,
          action,
          target: { kind: "source", id },
          runId,
          data,
          requestId: context.requestId
        })

      /** Runs in the caller's transaction. The new secret is in the response, and cannot be read afterwards. */
      const renew = Effect.fnUntraced(function* (context: CommandContext, version: number) {
        const row = yield* load
        if (row.hook_secret_version !== version) {
          return yield* new ApiError({
            code: "guard_conflict",
            message: `hookSecretVersion: the Source has ${row.hook_secret_version}, not ${version}. Somebody renewed the secret meanwhile; read the Source again.`
          })
        }
        const secret = yield* mintHookSecret
        yield* store.renewHookSecret(row, secret)
        yield* audited(context, row.workspace_id, "source.hook_secret.renew", { version: version + 1 })
        return { source: toSource(yield* load), hookSecret: Redacted.value(secret) }
      })

      const startSync = Effect.fnUntraced(function* (request: SyncRequest) {
        const { context, intent, trigger } = request
        const row = yield* load
        yield* usable(row, request.trigger)
        const { path, ref } = laneOf(row, request.lane)
        const isLook = trigger === "webhook" || trigger === "schedule"
        const spec = yield* provideCaptured(syncSpec(row, request), services)
        if (intent === "observe") yield* deferred.queued(id, { ref, path })
        const waiting = isLook ? yield* provideCaptured(queuedLook(id, spec), services) : undefined
        if (waiting !== undefined) return yield* started(waiting)
        yield* admission.admit({ workspaceId: row.workspace_id, type: "source_sync", trigger })
        // A webhook or the schedule has no caller to receive a refusal, so the Run states why it cannot fetch.
        if (trigger === "user") {
          const fetch = { workspaceId: row.workspace_id, url: row.url, ref, source: row }
          yield* mayUse(context, row.auth_connection_id, fetch)
        }
        const runId = yield* mintRunId
        yield* ledger.insert({
          id: runId,
          workspaceId: row.workspace_id,
          type: "source_sync",
          sourceId: id,
          createdBy: context.actor.subject,
          trigger,
          quiet: isLook,
          spec
        })
        yield* lanes.expected(id, { ref, path })
        // An automatic sync is added to the history only if it found something.
        if (!isLook) yield* audited(context, row.workspace_id, "source.sync", { intent, trigger }, runId)
        return yield* started(runId)
      })

      const defer = Effect.fnUntraced(function* (
        context: CommandContext,
        trigger: DeferredSync["trigger"],
        lane: Lane | undefined
      ) {
        const row = yield* load
        if (followObstacle(row, trigger) !== undefined) return
        const wanted = laneOf(row, lane)
        if (!(yield* deferred.defer({ sourceId: id, ...wanted, trigger }))) return
        yield* Effect.logWarning(`A sync of ${id} is deferred: the queue of its Workspace is full.`)
        yield* audited(context, row.workspace_id, "source.sync_deferred", { ...wanted, trigger })
      })

      return handle(SourceCommands, {
        Create: Effect.fnUntraced(function* ({ payload: { context, request } }) {
          const address = fetchableAddress(request.url, policy)
          if (Result.isFailure(address)) return yield* invalidRequest(`url: ${address.failure.message}`)
          const url = address.success
          const defaultRef = yield* readRef(request.defaultRef ?? headRef)
          yield* checkConnection(request.workspaceId, request.authConnectionId, url)
          yield* mayUse(context, request.authConnectionId, {
            workspaceId: request.workspaceId,
            url,
            ref: defaultRef,
            source: undefined
          })
          const hookSecret = yield* mintHookSecret
          const row = yield* store.insert({
            id,
            workspaceId: request.workspaceId,
            name: request.name,
            url,
            defaultRef,
            defaultRefByManager:
              defaultRef === "HEAD" || (yield* uses.isManager(context.actor.subject, request.workspaceId)),
            defaultPath: request.defaultPath ?? ".",
            authConnectionId: request.authConnectionId,
            createdBy: context.actor.subject,
            autoSync: request.autoSync ?? false,
            hookSecret
          })
          yield* audited(context, request.workspaceId, "source.create", { name: request.name })
          const answer = { source: toSource(row), hookSecret: Redacted.value(hookSecret) }
          if (request.firstSync === undefined) return answer
          const run = yield* startSync({
            context,
            intent: "manual_plan",
            trigger: "user",
            removeUnread: request.firstSync.onFailure === "remove"
          })
          return { ...answer, run }
        }, transaction(sql)),

        Update: Effect.fnUntraced(function* ({ payload: { context, request } }) {
          const row = yield* load
          if (request.reviewedRefs !== undefined && !(yield* uses.isManager(context.actor.subject, row.workspace_id))) {
            return yield* new ApiError({
              code: "permission_denied",
              message:
                "reviewedRefs: only an owner or admin allows a ref to open private inputs and state. Ask one of them."
            })
          }
          yield* checkConnection(row.workspace_id, request.authConnectionId, row.url)
          const ref = request.defaultRef === undefined ? row.default_ref : yield* readRef(request.defaultRef)
          // Attaching a Connection, choosing what it fetches, or automating its use all count as using it.
          const attached = request.authConnectionId === undefined ? row.auth_connection_id : request.authConnectionId
          if (request.authConnectionId !== undefined || request.autoSync === true || ref !== row.default_ref) {
            yield* mayUse(context, attached, { workspaceId: row.workspace_id, url: row.url, ref, source: row })
          }
          const byManager =
            request.defaultRef === undefined || (ref === row.default_ref && row.default_ref_by_manager === 1)
              ? row.default_ref_by_manager === 1
              : ref === "HEAD" || (yield* uses.isManager(context.actor.subject, row.workspace_id))
          yield* store.update(id, {
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
            ...(request.reviewedRefs === undefined
              ? {}
              : { reviewed_refs: ReviewedRefsJson.write([...new Set(request.reviewedRefs)]) }),
            ...(request.autoSync === undefined ? {} : { auto_sync: request.autoSync ? 1 : 0 }),
            ...(request.status === undefined ? {} : { status: request.status })
          })
          // What looks have put off is not taken up later: a person has stopped them.
          if (request.autoSync === false || request.status === "disabled") {
            yield* deferred.forget(id)
            yield* capsules.forgetDeferred(id)
          }
          yield* lanes.settleStatus(id)
          yield* audited(context, row.workspace_id, "source.update", {
            fields: Object.keys(request),
            ...(request.reviewedRefs === undefined ? {} : { reviewedRefs: request.reviewedRefs })
          })
          return toSource(yield* load)
        }, transaction(sql)),

        Remove: ({ payload: { context } }) => provideCaptured(removeSource(load, context), removal),

        Unread: () => provideCaptured(removeUnread(id), removal).pipe(transaction(sql)),

        RenewHookSecret: Effect.fnUntraced(function* ({ payload: { context, hookSecretVersion, idempotency } }) {
          const row = yield* load
          const create = renew(context, hookSecretVersion)
          if (idempotency === undefined) return { replayed: false, ...(yield* create) }
          const { replayed, value } = yield* receipts.once(
            { scope: row.workspace_id, actor: context.actorKey, route: `sources.renewHookSecret ${id}` },
            idempotency,
            {
              create: Effect.map(create, (value) => ({ value, receipt: { resultId: id, firstStatus: 201 } })),
              replay: () => Effect.map(load, (current) => ({ source: toSource(current) }))
            }
          )
          return { replayed, ...value }
        }, transaction(sql)),

        Sync: ({ payload }) =>
          startSync(payload).pipe(
            transaction(sql),
            // There is no caller to see this refusal and retry, so the schedule retries.
            Effect.tapError(({ code }) =>
              code === "rate_limited" && (payload.trigger === "webhook" || payload.trigger === "schedule")
                ? transaction(sql)(defer(payload.context, payload.trigger, payload.lane))
                : Effect.void
            )
          ),

        CheckCompatibility: Effect.fnUntraced(function* ({
          payload: { context, sourceSnapshotId, modulePath, installConfigId }
        }) {
          const row = yield* load
          const snapshot = yield* store.findSnapshot(sourceSnapshotId)
          if (snapshot === undefined || snapshot.source_id !== id) {
            return yield* invalidRequest("sourceSnapshotId: the Source has no such snapshot.")
          }
          yield* checkConfig(row.workspace_id, installConfigId)
          yield* admission.admit({ workspaceId: row.workspace_id, type: "compatibility_check", trigger: "user" })
          const compared = installConfigId === undefined ? {} : { installConfigId }
          const runId = yield* mintRunId
          yield* ledger.insert({
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
          yield* audited(context, row.workspace_id, "source.compatibility_check", { modulePath, ...compared }, runId)
          return yield* started(runId)
        }, transaction(sql))
      })
    }
  })
)
