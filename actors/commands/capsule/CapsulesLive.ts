import { Effect, Layer, Result, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, type RunGroupId, RunId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { makeRemoteRevisions } from "../../inputs/git/RemoteRevisions.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId } from "../../base/Identity.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { pageOfRows } from "../../base/paging/RowPages.ts"
import { awaitRun } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { capsulesNeedingAttention, livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { commitDescriptions, withCommitDescriptions } from "../../ledger/source/CommitDescriptions.ts"
import { AutoUpdateDecisionRow, toDecision } from "./AutoUpdateDecisions.ts"
import { BackupRow, BackupStore, ListedBackup, toBackup } from "../../ledger/state/BackupStore.ts"
import { readGroup } from "../../running/run-group/GroupProjection.ts"
import { CapsuleRow, GuardedCapsuleRow, guardedCapsules, toCapsule } from "../../ledger/capsule/CapsuleRow.ts"
import { Capsules, type CapsuleUsage } from "./Capsules.ts"
import { OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"
import { readyMadeConfigs, toInstallConfig } from "../../ledger/configuration/PublicInstallConfig.ts"
import { storedValue } from "../../../runner/execution/ServerPaths.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { toOutput, toStateVersion } from "../../ledger/state/StateVersions.ts"
import { InstallConfigRow, ListedConfig, ProviderBindingRow } from "../../ledger/configuration/InstallConfigStore.ts"
import { ListedStateVersion, OutputRow, StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { providedService } from "../../base/Provided.ts"
import { rowShape } from "../../base/database/Table.ts"
import type { SkippedCapsule } from "../../../schema/records/RunGroup.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { type Refused, RunGroups } from "../../running/run-group/RunGroups.ts"
import { dependencyOrder } from "./DependencyOrder.ts"
import { DependencyEdgeRow } from "../../ledger/consumption/DependencyRow.ts"

interface StartedGroup {
  readonly id: RunGroupId
  readonly skipped: ReadonlyArray<SkippedCapsule>
}

const toSkipped = ({ capsuleId, error: { code, message } }: Refused) => ({ capsuleId, code, message })

/** Updates all stale Capsules in a Workspace, or those in `only`, wave by wave. `skipped` lists the Capsules that got no plan. */
const startUpdate = Effect.fn("Capsules.startUpdate")(function* (
  context: CommandContext,
  workspaceId: WorkspaceId,
  only?: ReadonlyArray<CapsuleId>
) {
  const { id, refused } = yield* (yield* RunGroups).startUpdate(context, workspaceId, only)
  return { id, skipped: refused.map(toSkipped) }
})

/**
 * Starts a drift check of every Capsule in a Workspace that has a state. `skipped` lists the Capsules whose check could not
 * be started. If no check could be started, fails with the first error.
 */
const startDriftCheck = Effect.fn("Capsules.startDriftCheck")(function* (
  context: CommandContext,
  workspaceId: WorkspaceId
) {
  const sql = yield* SqlClient.SqlClient
  const groups = yield* RunGroups
  const command = yield* CapsuleCommands
  const capsules = yield* Effect.orDie(CapsuleRow.some(
    sql,
    "id"
  )`SELECT id FROM capsules WHERE workspace_id = ${workspaceId}
    AND status IN ('active', 'stale', 'error') AND current_state_version_id IS NOT NULL ORDER BY created_at, id`)
  if (capsules.length === 0) return yield* failedPrecondition("No Capsule has a state to compare.")
  const edges = yield* Effect.orDie(DependencyEdgeRow.rows(
    sql
  )`SELECT producer_capsule_id AS producer, consumer_capsule_id AS consumer
    FROM dependencies WHERE workspace_id = ${workspaceId}`)
  const ids = capsules.map((capsule) => capsule.id)
  const id = yield* groups.startCheck(workspaceId)
  const refused: Array<Refused> = []
  for (const capsuleId of dependencyOrder(ids, edges)) {
    const outcome = yield* Effect.result(command.DriftCheck(capsuleId, { context, groupId: id }))
    // A Capsule that cannot be checked must not prevent the other checks.
    if (Result.isFailure(outcome)) refused.push({ capsuleId: capsuleId, error: outcome.failure })
  }
  const [first] = refused
  if (refused.length === ids.length && first !== undefined) {
    yield* groups.discard(id)
    return yield* first.error
  }
  return { id, skipped: refused.map(toSkipped) }
})

/** Nullable, because a sum over zero rows is null. */
const Bytes = rowShape({ bytes: Schema.NullOr(Schema.Int) })

const minutes = (run: Pick<RunRow, "started_at" | "finished_at">): number =>
  run.started_at === null || run.finished_at === null
    ? 0
    : (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 60_000

/**
 * Computes the usage of a Capsule or a whole Workspace. The times are computed from the Runs, and the sizes from the stored
 * data.
 */
const usageOf = Effect.fn("Capsules.usage")(function* (sql: SqlClient.SqlClient, scope: Statement.Fragment) {
  const runs = yield* RunRow.some(
    sql,
    "type",
    "started_at",
    "finished_at"
  )`SELECT type, started_at, finished_at FROM runs
      WHERE ${scope} AND quiet = 0 AND finished_at IS NOT NULL`
  const states = yield* Bytes.rows(sql)`SELECT SUM(size_bytes) AS bytes FROM (
    SELECT size_bytes FROM state_versions WHERE ${scope}
    UNION ALL SELECT size_bytes FROM left_over_states WHERE ${scope} AND state IS NOT NULL) AS states`
  const logs = yield* Bytes.rows(sql)`SELECT SUM(bytes) AS bytes FROM run_log_chunks
    WHERE run_id IN (SELECT id FROM runs WHERE ${scope} AND quiet = 0)`
  const runMinutes = runs.reduce((sum, run) => sum + minutes(run), 0)
  return {
    runMinutes: Math.round(runMinutes * 100) / 100,
    applies: runs.filter((run) => run.type === "apply" || run.type === "destroy_apply").length,
    stateBytes: states[0]?.bytes ?? 0,
    logBytes: logs[0]?.bytes ?? 0
  } satisfies CapsuleUsage
}, Effect.orDie)

/** Maximum number of Capsules to list. Showing more would be of no use on a screen. */
const mostNeedingAttention = 100

// Columns for finding the rows of a page, which are then read again with related data.
const ListedCapsule = CapsuleRow.only("id", "created_at")

export const layer = Layer.effect(
  Capsules,
  Effect.gen(function* () {
    const sources = yield* SourceCommands
    const sql = yield* ReadSql
    const write = yield* SqlClient.SqlClient
    const cursors = yield* Cursors
    const vault = yield* Vault
    const operator = yield* OperatorConfigs
    const ledger = yield* RunLedger
    const queue = yield* RunQueue
    const admission = yield* RunAdmission
    const backups = yield* BackupStore
    const audit = yield* Audit
    const sourceStore = yield* SourceStore
    const revisions = yield* makeRemoteRevisions
    const { runsFolder } = yield* RunSettings

    const projectedGroup = ({ id, skipped }: StartedGroup) =>
      Effect.map(readGroup(id), (group) => ({ ...group, skipped }))

    const projected = (row: GuardedCapsuleRow) => toCapsule(row).pipe(Effect.provideService(Vault, vault))

    const guarded = Effect.fnUntraced(function* (rows: ReadonlyArray<{ readonly id: CapsuleId }>) {
      if (rows.length === 0) return []
      const found = yield* Effect.orDie(GuardedCapsuleRow.rows(sql)`${sql.literal(guardedCapsules)}
        WHERE ${sql.in(
          "c.id",
          rows.map((row) => row.id)
        )}`)
      const byId = new Map<string, GuardedCapsuleRow>(found.map((row) => [row.id, row]))
      return yield* Effect.forEach(
        rows.flatMap((row) => byId.get(row.id) ?? []),
        projected
      )
    })

    return yield* providedService(Capsules, {
      look: Effect.fn("Capsules.look")(function* (context, id) {
        const [row] = yield* Effect.orDie(CapsuleRow.rows(sql)`SELECT * FROM capsules WHERE id = ${id}`)
        if (row === undefined) return yield* notFound("Capsule")
        if (row.status === "destroyed" || row.status === "released") {
          return yield* failedPrecondition(`The Capsule is ${row.status}, so there is nothing to plan.`)
        }
        const lane = { ref: row.adopted_ref ?? row.tracked_ref, path: row.adopted_path ?? row.tracked_path }
        const { id: runId } = yield* sources.Sync(row.source_id, {
          context,
          intent: "manual_plan",
          trigger: "user",
          lane
        })
        yield* awaitRun(runId)
        const run = yield* ledger.find(runId)
        if (run === undefined) return yield* Effect.die(new Error(`Run ${runId} is gone`))
        const found = toRun(run)
        const { resolvedCommit, sourceSnapshotId } = found
        const described = yield* commitDescriptions(write, [sourceSnapshotId])
        const commitDescription = sourceSnapshotId === undefined ? undefined : described.get(sourceSnapshotId)
        const source = yield* sourceStore.find(row.source_id)
        const commitsAhead =
          resolvedCommit === undefined || row.adopted_commit === null || source === undefined
            ? undefined
            : yield* revisions.ahead(source, context.actor.subject ?? null, lane.ref, {
                commit: resolvedCommit,
                base: row.adopted_commit
              })
        return {
          runId,
          status: found.status,
          ...lane,
          ...(found.resolvedCommit === undefined ? {} : { resolvedCommit: found.resolvedCommit }),
          ...(commitDescription === undefined ? {} : { commitDescription }),
          ...(found.sourceSnapshotId === undefined ? {} : { sourceSnapshotId: found.sourceSnapshotId }),
          ...(row.adopted_commit === null ? {} : { deployedCommit: row.adopted_commit }),
          ...(commitsAhead === undefined ? {} : { commitsAhead }),
          ...(found.error === undefined ? {} : { error: found.error })
        }
      }),
      planUpdate: (context, workspaceId, only) =>
        startUpdate(context, workspaceId, only).pipe(Effect.flatMap(projectedGroup)),
      driftCheckAll: (context, workspaceId) =>
        startDriftCheck(context, workspaceId).pipe(Effect.flatMap(projectedGroup)),
      backup: Effect.fn("Capsules.backup")(function* (context, workspaceId, id) {
        const runId = yield* newId(RunId, "run")
        yield* Effect.gen(function* () {
          yield* admission.admit({ workspaceId, type: "backup", trigger: "user" })
          yield* ledger.insert({
            id: runId,
            workspaceId,
            type: "backup",
            capsuleId: id,
            createdBy: context.actor.subject,
            trigger: "user",
            spec: {}
          })
          yield* audit.append({
            workspaceId,
            actor: context.actor,
            action: "backup.create",
            target: id === undefined ? { kind: "workspace", id: workspaceId } : { kind: "capsule", id },
            capsuleId: id,
            runId,
            requestId: context.requestId
          })
          yield* write.afterCommit(queue.wake)
        }).pipe(transaction(write))
        yield* awaitRun(runId)
        const rows = yield* Effect.orDie(
          BackupRow.rows(write)`SELECT * FROM backups WHERE created_by_run_id = ${runId}`
        )
        const backup = rows[0] === undefined ? undefined : yield* backups.find(rows[0].id)
        // If there is no backup, the Run failed or was cancelled, and the Run's status shows which.
        return backup === undefined
          ? yield* failedPrecondition(`The backup failed. See the Run ${runId} for the reason.`)
          : toBackup(backup)
      }),
      backups: Effect.fn("Capsules.backups")(function* (workspaceId, page) {
        const list = {
          route: "backups.list",
          newestFirst: true,
          conditions: [sql`workspace_id = ${workspaceId}`],
          filter: [workspaceId]
        }
        const rows = yield* pageOfRows(ListedBackup, sql, cursors, list, page)
        return { ...rows, items: rows.items.map(toBackup) }
      }),

      read: Effect.fn("Capsules.read")(function* (id) {
        const [capsule] = yield* guarded([{ id }])
        return capsule === undefined ? yield* notFound("Capsule") : capsule
      }),
      list: Effect.fn("Capsules.list")(function* (workspaceId, filter, page) {
        const list = {
          route: "capsules.list",
          newestFirst: false,
          conditions: [
            sql`workspace_id = ${workspaceId}`,
            ...(filter.projectId === undefined ? [] : [sql`project_id = ${filter.projectId}`]),
            ...(filter.status === undefined ? [] : [sql`status = ${filter.status}`]),
            ...(filter.projectIds === undefined ? [] : [sql.in("project_id", filter.projectIds)]),
            ...(filter.environments === undefined ? [] : [sql.in("environment", filter.environments)])
          ],
          filter: [
            workspaceId,
            filter.projectId,
            filter.status,
            filter.projectIds?.join(" "),
            filter.environments?.join(" ")
          ]
        }
        const rows = yield* pageOfRows(ListedCapsule, sql, cursors, list, page)
        return { ...rows, items: yield* guarded(rows.items) }
      }),
      needingAttention: Effect.fn("Capsules.needingAttention")(function* (workspaceId) {
        const rows = yield* CapsuleRow.some(sql, "id", "updated_at")`SELECT id, updated_at FROM capsules
            WHERE workspace_id = ${workspaceId} AND ${sql.literal(capsulesNeedingAttention)} AND status <> 'released'
          UNION SELECT id, updated_at FROM capsules WHERE workspace_id = ${workspaceId}
            AND credential_wait IS NOT NULL AND ${sql.literal(livingCapsule())}
          ORDER BY updated_at DESC, id LIMIT ${mostNeedingAttention}`
        return yield* guarded(rows)
      }, Effect.orDie),
      names: Effect.fn("Capsules.names")(function* (ids) {
        if (ids.length === 0) return new Map()
        const rows = yield* CapsuleRow.some(sql, "id", "name")`SELECT id, name FROM capsules WHERE ${sql.in("id", ids)}`
        return new Map(rows.map(({ id, name }) => [id, name]))
      }, Effect.orDie),
      outputs: Effect.fn("Capsules.outputs")(function* (id) {
        const rows = yield* Effect.orDie(OutputRow.rows(sql)`SELECT o.* FROM outputs o
          JOIN capsules c ON c.current_state_version_id = o.state_version_id
          WHERE c.id = ${id} AND o.sensitive = 0 ORDER BY o.name`)
        return rows
          .flatMap((row) => toOutput(row) ?? [])
          .map((output) => ({ ...output, value: storedValue(runsFolder, output.value) }))
      }),
      providerBindings: Effect.fn("Capsules.providerBindings")(function* (id) {
        const rows = yield* Effect.orDie(ProviderBindingRow.some(
          sql,
          "provider",
          "module_local_name",
          "child_alias",
          "connection_id"
        )`SELECT b.provider, b.module_local_name, b.child_alias, b.connection_id FROM provider_bindings b
          JOIN capsules c ON c.install_config_id = b.install_config_id
          WHERE c.id = ${id} ORDER BY b.provider, b.module_local_name, b.child_alias`)
        return rows.map((row) => ({
          provider: row.provider,
          moduleLocalName: row.module_local_name,
          ...(row.child_alias === null ? {} : { childAlias: row.child_alias }),
          connectionId: row.connection_id
        }))
      }),
      autoUpdateDecisions: Effect.fn("Capsules.autoUpdateDecisions")(function* (id, page) {
        const list = {
          route: "capsules.autoUpdateDecisions",
          newestFirst: true,
          conditions: [sql`capsule_id = ${id}`],
          filter: [id]
        }
        const rows = yield* pageOfRows(AutoUpdateDecisionRow, sql, cursors, list, page)
        return { ...rows, items: yield* withCommitDescriptions(sql, rows.items.map(toDecision)) }
      }),
      stateVersions: Effect.fn("Capsules.stateVersions")(function* (id, page) {
        const list = {
          route: "capsules.stateVersions",
          newestFirst: true,
          conditions: [sql`capsule_id = ${id}`],
          filter: [id]
        }
        const rows = yield* pageOfRows(ListedStateVersion, sql, cursors, list, page)
        return { ...rows, items: rows.items.map(toStateVersion) }
      }),
      stateVersion: Effect.fn("Capsules.stateVersion")(function* (id) {
        const rows = yield* Effect.orDie(StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE id = ${id}`)
        return rows[0] === undefined ? yield* notFound("StateVersion") : toStateVersion(rows[0])
      }),
      currentStateVersions: Effect.fn("Capsules.currentStateVersions")(function* (workspaceId, page) {
        const list = {
          route: "stateVersions.current",
          newestFirst: false,
          conditions: [
            sql`workspace_id = ${workspaceId}`,
            sql`id IN (SELECT current_state_version_id FROM capsules WHERE workspace_id = ${workspaceId})`
          ],
          filter: [workspaceId]
        }
        const rows = yield* pageOfRows(ListedStateVersion, sql, cursors, list, page)
        return { ...rows, items: rows.items.map(toStateVersion) }
      }),
      installConfigs: Effect.fn("Capsules.installConfigs")(function* (workspaceId, page) {
        const list = {
          route: "installConfigs.list",
          newestFirst: false,
          conditions: [sql`workspace_id = ${workspaceId}`],
          filter: [workspaceId]
        }
        // Lists the operator's configurations first. These configurations have no creation time, so a cursor that points to
        // one of them contains no time.
        const binding = { route: list.route, subject: page.subject ?? "", filter: list.filter }
        const [at, last] = page.cursor === undefined ? ["", ""] : yield* cursors.decode(binding, page.cursor, 2)
        const readyMade = yield* readyMadeConfigs(operator, workspaceId)
        const ahead = at === "" ? readyMade.filter(({ id }) => id > (last ?? "")) : []
        const shown = ahead.slice(0, page.limit)
        if (ahead.length > page.limit) {
          return { items: shown, nextCursor: yield* cursors.encode(binding, ["", shown.at(-1)?.id ?? ""]) }
        }
        const { cursor, ...rest } = page
        const rows = yield* pageOfRows(ListedConfig, sql, cursors, list, {
          ...rest,
          ...(at === "" || cursor === undefined ? {} : { cursor }),
          limit: Math.max(1, page.limit - shown.length)
        })
        if (shown.length === page.limit) {
          return rows.items.length === 0
            ? { items: shown }
            : { items: shown, nextCursor: yield* cursors.encode(binding, ["", shown.at(-1)?.id ?? ""]) }
        }
        return { ...rows, items: [...shown, ...rows.items.map(toInstallConfig)] }
      }),
      installConfig: Effect.fn("Capsules.installConfig")(function* (workspaceId, id) {
        const [row] = yield* Effect.orDie(
          InstallConfigRow.rows(sql)`SELECT * FROM install_configs WHERE id = ${id} AND workspace_id = ${workspaceId}`
        )
        if (row !== undefined) return toInstallConfig(row)
        const found = (yield* readyMadeConfigs(operator, workspaceId)).find((config) => config.id === id)
        return found ?? (yield* notFound("InstallConfig"))
      }),
      usage: (id) => usageOf(sql, sql`capsule_id = ${id}`),
      workspaceUsage: (workspaceId) => usageOf(sql, sql`workspace_id = ${workspaceId}`)
    })
  })
)
