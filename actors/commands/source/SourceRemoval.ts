import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { coordinatorUnderWay } from "../../../schema/tables/PlanTables.ts"
import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { type CommandContext, serviceContext } from "../../../schema/commands/Command.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { now } from "../../base/Identity.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { noHookSecret, SourceStore } from "../../ledger/source/SourceStore.ts"
import { SnapshotRow, type SourceRow } from "../../ledger/source/SourceRow.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import { InstallPlanId, type RunId, type SourceId } from "../../../schema/records/Ids.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"

// Declares only the id, because the InstallPlan model is in a higher layer.
const OpenInstall = rowShape({ id: InstallPlanId })

/** Maximum number of users in the message. If there are more, the message contains only their number. */
const mostNamed = 10

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
  const more = named.length - mostNamed
  return more > 0 ? [...named.slice(0, mostNamed), `${more} more`] : named
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
const takeOut = Effect.fnUntraced(function* (row: SourceRow) {
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
const removed = Effect.fnUntraced(function* (row: SourceRow, { actor, requestId }: CommandContext, runId?: RunId) {
  const freesArchives = yield* takeOut(row)
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
export const removeUnread = Effect.fn("Source.removeUnread")(function* (id: SourceId) {
  const sources = yield* SourceStore
  const row = yield* sources.find(id)
  const runId = row?.unread_due ?? undefined
  if (row === undefined || runId === undefined) return
  yield* sources.setUnreadDue(id, null)
  if (row.removed_at !== null || row.last_synced_at !== null) return
  if (row.updated_at !== row.created_at) return
  if ((yield* openRun(id)) !== undefined || (yield* usersOf(id)).length > 0) return
  yield* removed(row, serviceContext, runId)
})

/** Removes an unused Source, with its webhook secret, schedule and unused snapshots. */
export const removeSource = Effect.fnUntraced(function* (
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
    return yield* removed(row, context)
  }).pipe(transaction(sql))
})
