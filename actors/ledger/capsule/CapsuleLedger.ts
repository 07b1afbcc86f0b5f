import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleStatus, StaleReason } from "../../../schema/records/Capsule.ts"
import type {
  CapsuleId,
  ConnectionId,
  InstallConfigId,
  ProjectId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import type { RunTrigger } from "../../../schema/records/Run.ts"
import { now } from "../../base/Identity.ts"
import { fenceColumns } from "./AuthorityColumns.ts"
import { reportChange, reportUpdate, rowBefore } from "./CapsuleNotices.ts"
import { StaleReasonsJson, guardedCapsules, GuardedCapsuleRow, CapsuleRow } from "./CapsuleRow.ts"
import { renewedWait } from "./CredentialWait.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { markReportsOfCapsule, markReportsOfConsumers } from "../pull-request-report/ReportMarks.ts"

/** Fields of a Capsule to insert. */
export interface NewCapsule {
  readonly id: CapsuleId
  readonly workspaceId: WorkspaceId
  readonly projectId: ProjectId
  readonly name: string
  readonly slug: string
  readonly environment: string
  readonly sourceId: SourceId
  readonly modulePath: string
  readonly installConfigId: InstallConfigId
  readonly trackedRef: string
  readonly trackedPath: string
  /** The initial state, for a Capsule that takes over existing infrastructure. */
  readonly state?: { readonly stateVersionId: StateVersionId; readonly generation: number } | undefined
  /** The origin of a Capsule imported from another installation's backup, as JSON. */
  readonly importedFrom?: string | undefined
}

/** The ref and the path, in a Source, that a Capsule follows. */
export interface Lane {
  readonly sourceId: SourceId
  readonly ref: string
  readonly path: string
}

type Columns = Readonly<Record<string, string | number | null>>

/** The only writer of `capsules`. Every method works in the caller's transaction. */
export class CapsuleLedger extends Context.Service<
  CapsuleLedger,
  {
    readonly find: (id: CapsuleId | null) => Effect.Effect<GuardedCapsuleRow | undefined>
    readonly insert: (capsule: NewCapsule) => Effect.Effect<void>
    /** Returns true if another Capsule in the same Project and environment has this name. */
    readonly nameTaken: (projectId: ProjectId, name: string, environment: string) => Effect.Effect<boolean>
    /**
     * Writes `changes` if `fenceColumns` still equal the row that the caller read. Returns `false` without writing if the Capsule
     * has changed.
     */
    readonly fence: (expected: GuardedCapsuleRow, changes: Columns) => Effect.Effect<boolean>
    /** Writes columns that carry no authority. */
    readonly annotate: (id: CapsuleId | null, changes: Columns) => Effect.Effect<void>
    /** Sets the time of the next scheduled drift check. Keeps `updated_at`, because the Capsule itself does not change. */
    readonly schedule: (id: CapsuleId, dueAt: string | null) => Effect.Effect<void>
    /**
     * Replaces the reasons why the Capsule is stale. If no reason remains and the status is `stale`, it becomes `active`;
     * any other status is kept.
     */
    readonly setStaleReasons: (capsule: GuardedCapsuleRow, reasons: ReadonlyArray<StaleReason>) => Effect.Effect<void>
    /** Called after a change to a Connection, so that Capsules waiting for the Connection can be planned again. */
    readonly credentialRenewed: (connectionId: ConnectionId) => Effect.Effect<void>
    /** Marks all consumers of this Capsule, so that the next `StaleReasons.compareUnread` compares them. */
    readonly consumersUnread: (producerCapsuleId: CapsuleId) => Effect.Effect<void>
    /**
     * Records that a decision about the snapshot is due for the Capsules of this lane. The step that makes the decision also
     * clears the record.
     */
    readonly followDue: (found: {
      readonly sourceId: SourceId
      readonly snapshotId: SourceSnapshotId
      readonly look: RunTrigger
    }) => Effect.Effect<void>
    /** Records that the decision is no longer due. */
    readonly followed: (id: CapsuleId) => Effect.Effect<void>
    /** Drops the deferred snapshots of the Source's Capsules, so that they are not planned later. */
    readonly forgetDeferred: (sourceId: SourceId) => Effect.Effect<void>
    /** Returns the Capsules that follow this lane and were last applied from it. */
    readonly ofLane: (lane: Lane) => Effect.Effect<ReadonlyArray<GuardedCapsuleRow>>
  }
>()("svc/actors/ledger/capsule/CapsuleLedger") {
  static readonly layer = Layer.effect(
    CapsuleLedger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const find = Effect.fnUntraced(function* (id: CapsuleId | null) {
        const rows = yield* GuardedCapsuleRow.rows(sql)`${sql.literal(guardedCapsules)} WHERE c.id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const insert = Effect.fnUntraced(function* (capsule: NewCapsule) {
        const at = yield* now
        yield* sql`INSERT INTO capsules ${CapsuleRow.values(sql, {
          id: capsule.id,
          workspace_id: capsule.workspaceId,
          project_id: capsule.projectId,
          name: capsule.name,
          slug: capsule.slug,
          environment: capsule.environment,
          source_id: capsule.sourceId,
          module_path: capsule.modulePath,
          install_config_id: capsule.installConfigId,
          status: (capsule.importedFrom === undefined ? "pending" : "disabled") satisfies CapsuleStatus,
          imported_from: capsule.importedFrom ?? null,
          runtime_safety: "safe",
          current_state_version_id: capsule.state?.stateVersionId ?? null,
          current_state_generation: capsule.state?.generation ?? 0,
          execution_authority_epoch: 1,
          tracked_ref: capsule.trackedRef,
          tracked_path: capsule.trackedPath,
          auto_update_enabled: 0,
          auto_update_apply: 0,
          drift_status: "unknown",
          created_at: at,
          updated_at: at
        })}`
      }, Effect.orDie)

      const nameTaken = (projectId: ProjectId, name: string, environment: string) =>
        sql`SELECT id FROM capsules WHERE project_id = ${projectId} AND name = ${name}
          AND environment = ${environment} AND ${sql.literal(livingCapsule())}`.pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.orDie
        )

      const fence = Effect.fn("CapsuleLedger.fence")(function* (expected: GuardedCapsuleRow, changes: Columns) {
        const moved = yield* sql`UPDATE capsules SET ${CapsuleRow.changes(sql, { ...changes, updated_at: yield* now })}
          WHERE ${sql.and(fenceColumns.map((column) => sql`${sql(column)} IS NOT DISTINCT FROM ${expected[column]}`))}
          RETURNING id`
        if (moved.length !== 1) return false
        yield* reportChange(sql, Effect.succeed(expected), changes)
        yield* markReportsOfCapsule(sql, expected.id)
        return true
      }, Effect.orDie)

      const annotate = Effect.fnUntraced(function* (id: CapsuleId | null, changes: Columns) {
        yield* reportChange(sql, rowBefore(sql, id), changes)
        yield* sql`UPDATE capsules SET ${CapsuleRow.changes(sql, { ...changes, updated_at: yield* now })} WHERE id = ${id}`
        if (id !== null) yield* markReportsOfCapsule(sql, id)
      }, Effect.orDie)

      const schedule = (id: CapsuleId, dueAt: string | null) =>
        Effect.orDie(
          Effect.asVoid(
            sql`UPDATE capsules SET ${CapsuleRow.changes(sql, { drift_check_due_at: dueAt })} WHERE id = ${id}`
          )
        )

      const setStaleReasons = Effect.fnUntraced(function* (
        capsule: GuardedCapsuleRow,
        reasons: ReadonlyArray<StaleReason>
      ) {
        const either = capsule.status === "active" || capsule.status === "stale"
        const status = !either ? capsule.status : reasons.length === 0 ? "active" : "stale"
        const stale_reasons = StaleReasonsJson.write(reasons)
        // Returns without writing if nothing changes, so that `updated_at` is kept.
        if (status === capsule.status && stale_reasons === capsule.stale_reasons) return
        yield* annotate(capsule.id, { status, stale_reasons })
        yield* reportUpdate(sql, capsule, stale_reasons)
      })

      const credentialRenewed = Effect.fnUntraced(function* (connectionId: ConnectionId) {
        yield* sql`UPDATE capsules SET credential_wait = json_set(credential_wait, '$.turn', ${renewedWait.turn},
            '$.next', ${renewedWait.next}), updated_at = ${yield* now}
          WHERE credential_wait IS NOT NULL AND json_extract(credential_wait, '$.connectionId') = ${connectionId}`
      }, Effect.orDie)

      const consumersUnread = Effect.fnUntraced(function* (producerCapsuleId: CapsuleId) {
        yield* sql`UPDATE capsules SET inputs_compared = 0 WHERE id IN (
          SELECT consumer_capsule_id FROM dependencies WHERE producer_capsule_id = ${producerCapsuleId}
          UNION SELECT capsule_id FROM consumed_inputs WHERE producer_capsule_id = ${producerCapsuleId})`
        yield* markReportsOfConsumers(sql, producerCapsuleId)
      }, Effect.orDie)

      const followDue: CapsuleLedger["Service"]["followDue"] = Effect.fnUntraced(function* ({
        look,
        snapshotId,
        sourceId
      }) {
        // Skips Capsules for which this snapshot has already been decided under the current authority and state.
        yield* sql`UPDATE capsules SET ${CapsuleRow.changes(sql, { follow_snapshot_id: snapshotId, follow_look: look })}
          WHERE id IN (SELECT c.id FROM capsules c
            JOIN source_snapshots s ON s.id = ${snapshotId}
            WHERE c.source_id = ${sourceId} AND c.auto_update_enabled = 1 AND ${sql.literal(livingCapsule("c."))}
              AND c.adopted_ref = s.ref AND c.adopted_path = s.path
              AND NOT EXISTS (SELECT 1 FROM auto_update_decisions d
                WHERE d.capsule_id = c.id AND d.source_snapshot_id = s.id
                  AND (d.run_id IS NOT NULL OR d.reason IN ('already_applied', 'pinned', 'planned_before'))
                  AND d.execution_authority_epoch = c.execution_authority_epoch
                  AND d.state_generation = c.current_state_generation))`
      }, Effect.orDie)

      const followed = (id: CapsuleId) =>
        Effect.orDie(
          Effect.asVoid(
            sql`UPDATE capsules SET ${CapsuleRow.changes(sql, { follow_snapshot_id: null, follow_look: null })} WHERE id = ${id}`
          )
        )

      const forgetDeferred = Effect.fnUntraced(function* (sourceId: SourceId) {
        yield* sql`UPDATE capsules SET deferred_snapshot_id = NULL, updated_at = ${yield* now}
          WHERE source_id = ${sourceId} AND deferred_snapshot_id IS NOT NULL`
      }, Effect.orDie)

      const ofLane = Effect.fnUntraced(function* ({ path, ref, sourceId }: Lane) {
        return yield* GuardedCapsuleRow.rows(sql)`${sql.literal(guardedCapsules)}
          WHERE c.source_id = ${sourceId} AND c.adopted_ref = ${ref} AND c.adopted_path = ${path}
            AND ${sql.literal(livingCapsule("c."))} ORDER BY c.created_at, c.id`
      }, Effect.orDie)

      return CapsuleLedger.of({
        find,
        insert,
        nameTaken,
        fence,
        annotate,
        schedule,
        setStaleReasons,
        credentialRenewed,
        consumersUnread,
        followDue,
        followed,
        forgetDeferred,
        ofLane
      })
    })
  )
}
