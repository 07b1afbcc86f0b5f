import type { Redacted } from "effect"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CompatibilityReport } from "../../../schema/records/CompatibilityReport.ts"
import type {
  CompatibilityReportId,
  ConnectionId,
  RunId,
  SourceId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { retention } from "../../../schema/records/Retention.ts"
import {
  type DeliveryVerdict,
  type RepositoryManifestStatus,
  Source,
  SourceSnapshot
} from "../../../schema/records/Source.ts"
import { now } from "../../base/Identity.ts"
import { present } from "../run/RunRow.ts"
import { Vault } from "../../base/vault/Vault.ts"
import type { StagedReport, StagedSnapshot } from "./StagedFindings.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import {
  type ListedSnapshot,
  type ListedSource,
  ManifestStatusJson,
  ModuleScanJson,
  AuthorsJson,
  CommitDescriptionJson,
  OmittedJson,
  ReportJson,
  ReportRow,
  ReviewedRefsJson,
  SnapshotRow,
  SourceRow,
  WarningsJson,
  WebhookDeliveryRow
} from "./SourceRow.ts"

/** Fields of a Source to insert. */
export interface NewSource {
  readonly id: SourceId
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly url: string
  readonly defaultRef: string
  readonly defaultPath: string
  readonly authConnectionId?: ConnectionId | undefined
  readonly createdBy?: string | undefined
  readonly defaultRefByManager: boolean
  readonly autoSync: boolean
  readonly hookSecret: Redacted.Redacted
}

const decodeSource = storedRecord(Source)
const decodeSnapshot = storedRecord(SourceSnapshot)
const decodeReport = storedRecord(CompatibilityReport)

export const toSource = (row: ListedSource): Source =>
  decodeSource({
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    url: row.url,
    defaultRef: row.default_ref,
    defaultPath: row.default_path,
    reviewedRefs: ReviewedRefsJson.read(row.reviewed_refs),
    pullRequests: row.pull_requests,
    autoSync: row.auto_sync === 1,
    status: row.status,
    hookSecretVersion: row.hook_secret_version,
    hookSecretCreatedAt: row.hook_secret_at ?? row.created_at,
    ...(row.former_hook_secret_until === null ? {} : { formerHookSecretUntil: row.former_hook_secret_until }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...present({
      authConnectionId: row.auth_connection_id,
      forgeConnectionId: row.forge_connection_id,
      lastSyncedAt: row.last_synced_at,
      removedAt: row.removed_at
    }),
    ...(row.last_delivery_at === null || row.last_delivery_verdict === null
      ? {}
      : {
          lastDelivery: {
            at: row.last_delivery_at,
            verdict: row.last_delivery_verdict,
            runCount: row.last_delivery_runs ?? 0
          }
        })
  })

export const toSnapshot = (row: ListedSnapshot): SourceSnapshot =>
  decodeSnapshot({
    id: row.id,
    workspaceId: row.workspace_id,
    sourceId: row.source_id,
    url: row.url,
    ref: row.ref,
    resolvedCommit: row.resolved_commit,
    path: row.path,
    archiveDigest: row.archive_digest,
    archiveSizeBytes: row.archive_size_bytes,
    fileCount: row.file_count,
    omitted: OmittedJson.parse(row.omitted),
    repositoryManifest: ManifestStatusJson.parse(row.repository_manifest),
    createdByRunId: row.created_by_run_id,
    createdAt: row.created_at,
    ...(row.commit_description === null
      ? {}
      : { commitDescription: CommitDescriptionJson.parse(row.commit_description) })
  })

export const toReport = (row: ReportRow): CompatibilityReport => ReportJson.read(row.report)

const hookPlace = (workspaceId: WorkspaceId, id: SourceId, column = "hook_secret") => ({
  table: "sources",
  column,
  workspaceId,
  rowId: id
})

/** Placeholder for the webhook secret of a removed Source, because the column must not be null. */
export const noHookSecret = ""

/** The only writer of `sources`, `source_snapshots`, `compatibility_reports` and `webhook_deliveries`. */
export class SourceStore extends Context.Service<
  SourceStore,
  {
    /** Inserts the Source and returns its row. */
    readonly insert: (source: NewSource) => Effect.Effect<SourceRow>
    readonly find: (id: SourceId | null) => Effect.Effect<SourceRow | undefined>
    readonly update: (id: SourceId, columns: Readonly<Record<string, string | number | null>>) => Effect.Effect<void>
    /** Returns the valid webhook secrets: the current one and, for a day after a renewal, the previous one. */
    readonly hookSecrets: (row: SourceRow) => Effect.Effect<{
      readonly current: Redacted.Redacted
      readonly former: Redacted.Redacted | undefined
    }>
    /**
     * Replaces the webhook secret of `row`. The previous secret remains valid until a delivery uses the new one, and for at most
     * a day. If `endFormerNow` is set, the previous secret becomes invalid at once.
     */
    readonly renewHookSecret: (row: SourceRow, secret: Redacted.Redacted, endFormerNow: boolean) => Effect.Effect<void>
    /** Invalidates the previous secret. Does nothing if the secret has since been renewed again. */
    readonly endFormerHookSecret: (row: SourceRow) => Effect.Effect<void>
    readonly insertSnapshot: (
      workspaceId: WorkspaceId,
      sourceId: SourceId,
      staged: StagedSnapshot
    ) => Effect.Effect<void>
    readonly findSnapshot: (id: SourceSnapshotId | null) => Effect.Effect<SnapshotRow | undefined>
    /** The current snapshot of a ref and path. */
    readonly currentSnapshot: (sourceId: SourceId, ref: string, path: string) => Effect.Effect<SnapshotRow | undefined>
    /** The newest snapshot of this commit for a ref and path. */
    readonly snapshotOf: (
      sourceId: SourceId,
      lane: { readonly ref: string; readonly path: string },
      commit: string
    ) => Effect.Effect<SnapshotRow | undefined>
    /** Stores this release's verdict on a snapshot's manifest, if it differs from the verdict of an earlier release. */
    readonly judgeManifest: (snapshotId: SourceSnapshotId, status: RepositoryManifestStatus) => Effect.Effect<void>
    /** Records that a sync succeeded, whether or not it found a new commit. */
    readonly synced: (sourceId: SourceId) => Effect.Effect<void>
    /**
     * Sets or clears `unread_due`, the id of the sync that ended without having read the Source. Does not change
     * `updated_at`, because the Source itself has not changed.
     */
    readonly setUnreadDue: (id: SourceId, runId: RunId | null) => Effect.Effect<void>
    readonly insertReport: (workspaceId: WorkspaceId, staged: StagedReport) => Effect.Effect<void>
    readonly findReport: (id: CompatibilityReportId | null) => Effect.Effect<ReportRow | undefined>
    readonly newestReport: (snapshotId: SourceSnapshotId, modulePath: string) => Effect.Effect<ReportRow | undefined>
    /** Returns `false` if this delivery was already recorded within the window. */
    readonly recordDelivery: (sourceId: SourceId, deliveryId: string, windowStart: string) => Effect.Effect<boolean>
    /** Records the result of the last webhook delivery, for the people who set up the webhook. */
    readonly noteDelivery: (id: SourceId, verdict: DeliveryVerdict, runCount: number) => Effect.Effect<void>
    /** Removes the record of a delivery that could not be processed, so that the forge can deliver it again. */
    readonly forgetDelivery: (sourceId: SourceId, deliveryId: string) => Effect.Effect<void>
  }
>()("svc/actors/ledger/source/SourceStore") {
  static readonly layer = Layer.effect(
    SourceStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const insert = Effect.fnUntraced(function* (source: NewSource) {
        const at = yield* now
        const [row] = yield* SourceRow.rows(sql)`INSERT INTO sources ${SourceRow.values(sql, {
          id: source.id,
          workspace_id: source.workspaceId,
          name: source.name,
          url: source.url,
          default_ref: source.defaultRef,
          default_path: source.defaultPath,
          auth_connection_id: source.authConnectionId ?? null,
          auth_connection_by: source.authConnectionId === undefined ? null : (source.createdBy ?? null),
          default_ref_by_manager: source.defaultRefByManager ? 1 : 0,
          auto_sync: source.autoSync ? 1 : 0,
          status: "active",
          hook_secret: yield* vault.seal(hookPlace(source.workspaceId, source.id), source.hookSecret),
          created_at: at,
          updated_at: at
        })} RETURNING *`
        return row === undefined ? yield* Effect.die(new Error(`The Source ${source.id} was not inserted`)) : row
      }, Effect.orDie)

      const find = Effect.fnUntraced(function* (id: SourceId | null) {
        const rows = yield* SourceRow.rows(sql)`SELECT * FROM sources WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const update = Effect.fnUntraced(function* (
        id: SourceId,
        columns: Readonly<Record<string, string | number | null>>
      ) {
        yield* sql`UPDATE sources SET ${SourceRow.changes(sql, { ...columns, updated_at: yield* now })} WHERE id = ${id}`
      }, Effect.orDie)

      const formerPlace = ({ id, workspace_id }: SourceRow) => hookPlace(workspace_id, id, "former_hook_secret")

      const hookSecrets = Effect.fnUntraced(function* (row: SourceRow) {
        const { former_hook_secret: sealed, former_hook_secret_until: until } = row
        const isOver = until === null || until <= (yield* now)
        return {
          current: yield* vault.openText(hookPlace(row.workspace_id, row.id), row.hook_secret),
          former: sealed === null || isOver ? undefined : yield* vault.openText(formerPlace(row), sealed)
        }
      }, Effect.orDie)

      const renewHookSecret = Effect.fnUntraced(function* (
        row: SourceRow,
        secret: Redacted.Redacted,
        endFormerNow: boolean
      ) {
        const { current, former } = yield* hookSecrets(row)
        const until = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, retention.formerHookSecret.after))
        yield* update(row.id, {
          // Keeps the previous secret until a delivery has used the current one, because the Git server may still use it.
          former_hook_secret: endFormerNow ? null : yield* vault.seal(formerPlace(row), former ?? current),
          former_hook_secret_until: endFormerNow ? null : until,
          hook_secret: yield* vault.seal(hookPlace(row.workspace_id, row.id), secret),
          hook_secret_version: row.hook_secret_version + 1,
          hook_secret_at: yield* now
        })
      }, Effect.orDie)

      const endFormerHookSecret = Effect.fnUntraced(function* (row: SourceRow) {
        yield* sql`UPDATE sources SET ${SourceRow.changes(sql, { former_hook_secret: null, former_hook_secret_until: null })}
          WHERE id = ${row.id} AND hook_secret_version = ${row.hook_secret_version}`
      }, Effect.orDie)

      const insertSnapshot = Effect.fnUntraced(function* (
        workspaceId: WorkspaceId,
        sourceId: SourceId,
        staged: StagedSnapshot
      ) {
        yield* sql`INSERT INTO source_snapshots ${SnapshotRow.values(sql, {
          id: staged.id,
          workspace_id: workspaceId,
          source_id: sourceId,
          url: staged.url,
          ref: staged.ref,
          resolved_commit: staged.resolvedCommit,
          path: staged.path,
          archive_digest: staged.archiveDigest,
          archive_size_bytes: staged.archiveSizeBytes,
          file_count: staged.fileCount,
          omitted: OmittedJson.write(staged.omitted),
          repository_manifest: ManifestStatusJson.write(staged.repositoryManifest),
          manifest_document: staged.manifestDocument ?? null,
          warnings: WarningsJson.write(staged.warnings),
          created_by_run_id: staged.createdByRunId,
          created_at: staged.createdAt,
          authors: staged.authors === undefined ? null : AuthorsJson.write(staged.authors),
          commit_description:
            staged.commitDescription === undefined ? null : CommitDescriptionJson.write(staged.commitDescription)
        })}`
        yield* sql`UPDATE sources SET ${SourceRow.changes(sql, { last_synced_at: staged.createdAt, updated_at: yield* now })}
          WHERE id = ${sourceId}`
      }, Effect.orDie)

      const judgeManifest = Effect.fnUntraced(function* (
        snapshotId: SourceSnapshotId,
        status: RepositoryManifestStatus
      ) {
        yield* sql`UPDATE source_snapshots SET repository_manifest = ${ManifestStatusJson.write(status)} WHERE id = ${snapshotId}`
      }, Effect.orDie)

      const synced = Effect.fnUntraced(function* (sourceId: SourceId) {
        yield* sql`UPDATE sources SET ${SourceRow.changes(sql, { last_synced_at: yield* now })} WHERE id = ${sourceId}`
      }, Effect.orDie)

      const setUnreadDue = (id: SourceId, runId: RunId | null) =>
        Effect.orDie(
          Effect.asVoid(sql`UPDATE sources SET ${SourceRow.changes(sql, { unread_due: runId })} WHERE id = ${id}`)
        )

      const forgetDelivery = Effect.fnUntraced(function* (sourceId: SourceId, deliveryId: string) {
        yield* sql`DELETE FROM webhook_deliveries WHERE source_id = ${sourceId} AND delivery_id = ${deliveryId}`
      }, Effect.orDie)

      const noteDelivery = Effect.fnUntraced(function* (id: SourceId, verdict: DeliveryVerdict, runCount: number) {
        yield* sql`UPDATE sources SET ${SourceRow.changes(sql, {
          last_delivery_at: yield* now,
          last_delivery_verdict: verdict,
          last_delivery_runs: runCount
        })} WHERE id = ${id}`
      }, Effect.orDie)

      const findSnapshot = Effect.fnUntraced(function* (id: SourceSnapshotId | null) {
        const rows = yield* SnapshotRow.rows(sql)`SELECT * FROM source_snapshots WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const currentSnapshot = Effect.fnUntraced(function* (sourceId: SourceId, ref: string, path: string) {
        const rows = yield* SnapshotRow.rows(sql)`SELECT s.* FROM source_lanes l
          JOIN source_snapshots s ON s.id = l.source_snapshot_id
          WHERE l.source_id = ${sourceId} AND l.ref = ${ref} AND l.path = ${path}`
        return rows[0]
      }, Effect.orDie)

      const snapshotOf = Effect.fnUntraced(function* (
        sourceId: SourceId,
        { path, ref }: { readonly ref: string; readonly path: string },
        commit: string
      ) {
        const rows = yield* SnapshotRow.rows(sql)`SELECT * FROM source_snapshots
          WHERE source_id = ${sourceId} AND ref = ${ref} AND path = ${path} AND resolved_commit = ${commit}
          ORDER BY created_at DESC, id DESC LIMIT 1`
        return rows[0]
      }, Effect.orDie)

      const insertReport = Effect.fnUntraced(function* (workspaceId: WorkspaceId, staged: StagedReport) {
        const { report } = staged
        yield* sql`INSERT INTO compatibility_reports ${ReportRow.values(sql, {
          id: report.id,
          workspace_id: workspaceId,
          source_id: report.sourceId,
          source_snapshot_id: report.sourceSnapshotId,
          module_path: report.modulePath,
          status: report.status,
          report: ReportJson.write(decodeReport(report)),
          module_scan: ModuleScanJson.write(staged.moduleScan),
          contract_digest: staged.contractDigest,
          install_config_id: report.installConfigId ?? null,
          created_by_run_id: report.createdByRunId,
          created_at: report.createdAt
        })}`
      }, Effect.orDie)

      const findReport = Effect.fnUntraced(function* (id: CompatibilityReportId | null) {
        const rows = yield* ReportRow.rows(sql)`SELECT * FROM compatibility_reports WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const newestReport = Effect.fnUntraced(function* (snapshotId: SourceSnapshotId, modulePath: string) {
        const rows = yield* ReportRow.rows(sql)`SELECT * FROM compatibility_reports
          WHERE source_snapshot_id = ${snapshotId} AND module_path = ${modulePath} ORDER BY created_at DESC, id DESC LIMIT 1`
        return rows[0]
      }, Effect.orDie)

      const recordDelivery = Effect.fnUntraced(function* (sourceId: SourceId, deliveryId: string, windowStart: string) {
        yield* sql`DELETE FROM webhook_deliveries WHERE received_at < ${windowStart}`
        const inserted = yield* sql`INSERT INTO webhook_deliveries ${WebhookDeliveryRow.values(sql, {
          source_id: sourceId,
          delivery_id: deliveryId,
          received_at: yield* now
        })} ON CONFLICT (source_id, delivery_id) DO NOTHING RETURNING delivery_id`
        return inserted.length === 1
      }, Effect.orDie)

      return SourceStore.of({
        insert,
        find,
        update,
        hookSecrets,
        renewHookSecret,
        endFormerHookSecret,
        insertSnapshot,
        judgeManifest,
        synced,
        setUnreadDue,
        forgetDelivery,
        noteDelivery,
        findSnapshot,
        currentSnapshot,
        snapshotOf,
        insertReport,
        findReport,
        newestReport,
        recordDelivery
      })
    })
  )
}
