import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { Effect, Schema } from "effect"
import {
  Capsule,
  CapsuleStatus,
  DriftStatus,
  ReleaseReason,
  RuntimeSafety,
  StaleReason
} from "../../../schema/records/Capsule.ts"
import { RunTrigger } from "../../../schema/records/Run.ts"
import { present } from "../run/RunRow.ts"
import { Vault } from "../../base/vault/Vault.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  InstallConfigId,
  ProjectId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  Subject,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText, storedRecord } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { guardText } from "./AuthorityColumns.ts"
import { CommitDescriptionJson, SnapshotRow } from "../source/SourceRow.ts"
import { ImportedFromJson } from "../state/StateUploads.ts"
import { CredentialWaitJson } from "./CredentialWait.ts"

/**
 * The people who enabled auto-update and who last changed it. If an automation made the change, contains the people behind
 * the automation instead.
 */
const AutoUpdateAuthors = Schema.Struct({ turnedOnBy: Schema.Array(Subject), changedBy: Schema.Array(Subject) })
export type AutoUpdateAuthors = typeof AutoUpdateAuthors.Type
export const AutoUpdateAuthorsJson = jsonText(AutoUpdateAuthors)

export const StaleReasonsJson = jsonText(Schema.Array(StaleReason))

/** Capsules. */
export const CapsuleRow = table(
  "capsules",
  {
    id: CapsuleId,
    workspace_id: WorkspaceId,
    project_id: ProjectId,
    name: Schema.String,
    slug: Schema.String,
    environment: Schema.String,
    source_id: SourceId,
    module_path: Schema.String,
    install_config_id: InstallConfigId,
    status: CapsuleStatus,
    runtime_safety: RuntimeSafety,
    current_state_version_id: Schema.NullOr(StateVersionId),
    current_state_generation: Schema.Int,
    execution_authority_epoch: Schema.Int,
    tracked_ref: Schema.String,
    tracked_path: Schema.String,
    adopted_snapshot_id: Schema.NullOr(SourceSnapshotId),
    adopted_ref: Schema.NullOr(Schema.String),
    adopted_path: Schema.NullOr(Schema.String),
    adopted_commit: Schema.NullOr(Schema.String),
    tool_name: Schema.NullOr(Schema.Literals(["opentofu", "terraform"])),
    /** Dependency lock from the last successful apply. */
    provider_lock: Schema.NullOr(Schema.String),
    auto_update_enabled: Flag,
    auto_update_apply: Flag,
    drift_status: DriftStatus,
    drift_checked_at: Schema.NullOr(Timestamp),
    public_endpoint: Schema.NullOr(Schema.String),
    created_at: Timestamp,
    updated_at: Timestamp,
    /** The person who last changed auto-update. Automatic Runs use this person's authority. */
    auto_update_by: Schema.NullOr(Schema.String),
    /** The authors of plans that auto-update creates; `NULL` if an earlier release last changed auto-update. */
    auto_update_authors: Schema.NullOr(AutoUpdateAuthorsJson),
    /** A snapshot of the lane that could not be planned because the queue was full. */
    deferred_snapshot_id: Schema.NullOr(SourceSnapshotId),
    /**
     * The newest snapshot for which a decision is still due. `follow_look` is the trigger of the check that found the
     * snapshot.
     */
    follow_snapshot_id: Schema.NullOr(SourceSnapshotId),
    follow_look: Schema.NullOr(RunTrigger),
    stale_reasons: StaleReasonsJson,
    inputs_compared: Flag,
    /** The rollback plan that pins the Capsule. The other pin columns record the choices of the person who applied the plan. */
    pinned_run_id: Schema.NullOr(RunId),
    pinned_by: Schema.NullOr(Schema.String),
    pinned_at: Schema.NullOr(Timestamp),
    pinned_reason: Schema.NullOr(Schema.String),
    pinned_commit: Schema.NullOr(Schema.String),
    pin_ends_on_commit: Flag,
    released_at: Schema.NullOr(Timestamp),
    released_by: Schema.NullOr(Schema.String),
    release_reason: Schema.NullOr(ReleaseReason),
    release_comment: Schema.NullOr(Schema.String),
    /** The credential problem that blocks the Capsule's Runs. */
    credential_wait: Schema.NullOr(CredentialWaitJson),
    /** Hours between drift checks. `NULL` means the Workspace's setting; 0 disables the checks. */
    drift_check_hours: Schema.NullOr(Schema.Int),
    drift_check_by: Schema.NullOr(Schema.String),
    drift_check_due_at: Schema.NullOr(Timestamp),
    /** If true, commits that change none of the module's files do not make the Capsule stale. */
    path_filter: Flag,
    /** The origin of a Capsule imported from another installation's backup. */
    imported_from: Schema.NullOr(ImportedFromJson),
    import_confirmed_at: Schema.NullOr(Timestamp),
    import_confirmed_by: Schema.NullOr(Schema.String)
  },
  ["stale_reasons", "inputs_compared", "pin_ends_on_commit", "path_filter"]
)
export type CapsuleRow = RowOf<typeof CapsuleRow.columns>

/** A Capsule row joined with the values that its projection and guard need from other records. */
export const GuardedCapsuleRow = rowShape({
  ...CapsuleRow.columns,
  install_config_digest: Schema.String,
  compatibility_report_id: Schema.NullOr(CompatibilityReportId),
  adopted_commit_description: SnapshotRow.columns.commit_description,
  lane_error_code: Schema.NullOr(Schema.String),
  lane_error_message: Schema.NullOr(Schema.String),
  lane_error_since: Schema.NullOr(Timestamp)
})
export type GuardedCapsuleRow = RowOf<typeof GuardedCapsuleRow.columns>

/** Query for `GuardedCapsuleRow`. Append a condition on `c`. */
export const guardedCapsules = `SELECT c.*, i.digest AS install_config_digest, i.compatibility_report_id,
    s.commit_description AS adopted_commit_description, l.error_code AS lane_error_code,
    l.error_message AS lane_error_message, l.error_since AS lane_error_since
  FROM capsules c JOIN install_configs i ON i.id = c.install_config_id
  LEFT JOIN source_snapshots s ON s.id = c.adopted_snapshot_id
  LEFT JOIN source_lanes l ON l.source_id = c.source_id
    AND l.ref = COALESCE(c.adopted_ref, c.tracked_ref) AND l.path = COALESCE(c.adopted_path, c.tracked_path)`

const guardPurpose = "authority-guard"

/**
 * Computes the guard that clients send back with changes. The guard is opaque and depends only on authority, never on audit
 * times (design, section 3).
 */
export const authorityGuard = (row: GuardedCapsuleRow) =>
  Effect.flatMap(Vault, (vault) => Effect.map(vault.mac(guardPurpose, guardText(row)), (digest) => `ag1.${digest}`))

/** Returns true if the client's guard is still current. */
export const guardHolds = (row: GuardedCapsuleRow, guard: string) =>
  Effect.flatMap(Vault, (vault) =>
    guard.startsWith("ag1.") ? vault.verifyMac(guardPurpose, guardText(row), guard.slice(4)) : Effect.succeed(false)
  )

const driftCheckPlan = ({ drift_check_due_at, drift_check_hours }: CapsuleRow) => ({
  ...(drift_check_hours === null
    ? { mode: "inherit" }
    : drift_check_hours === 0
      ? { mode: "off" }
      : { mode: "every", hours: drift_check_hours }),
  ...present({ nextAt: drift_check_due_at })
})

const decodeCapsule = storedRecord(Capsule)

const projected = (row: GuardedCapsuleRow, guard: string): Capsule =>
  decodeCapsule({
    id: row.id,
    workspaceId: row.workspace_id,
    projectId: row.project_id,
    name: row.name,
    slug: row.slug,
    environment: row.environment,
    sourceId: row.source_id,
    modulePath: row.module_path,
    installConfigId: row.install_config_id,
    status: row.status,
    staleReasons: StaleReasonsJson.read(row.stale_reasons),
    runtimeSafety: row.runtime_safety,
    currentStateGeneration: row.current_state_generation,
    executionAuthorityEpoch: row.execution_authority_epoch,
    installConfigReAdoption: { authorityGuard: guard },
    autoUpdate: {
      enabled: row.auto_update_enabled === 1,
      apply: row.auto_update_apply === 1,
      ...(row.pinned_at === null
        ? {}
        : {
            pinnedBy: {
              runId: row.pinned_run_id,
              at: row.pinned_at,
              reason: row.pinned_reason,
              resumeOnNewCommit: row.pin_ends_on_commit === 1,
              ...present({ subject: row.pinned_by })
            }
          })
    },
    pathFilter: row.path_filter === 1,
    driftStatus: row.drift_status,
    driftChecks: driftCheckPlan(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...present({
      compatibilityReportId: row.compatibility_report_id,
      adoptedCommitDescription:
        row.adopted_commit_description === null
          ? undefined
          : CommitDescriptionJson.parse(row.adopted_commit_description),
      currentStateVersionId: row.current_state_version_id,
      driftCheckedAt: row.drift_checked_at,
      publicEndpoint: row.public_endpoint,
      laneError:
        row.lane_error_code === null || isEnded(row.status)
          ? undefined
          : { code: row.lane_error_code, message: row.lane_error_message ?? "", since: row.lane_error_since },
      waitsForCredential: row.credential_wait === null ? undefined : CredentialWaitJson.parse(row.credential_wait),
      release:
        row.released_at === null
          ? undefined
          : {
              at: row.released_at,
              reason: row.release_reason,
              ...present({ by: row.released_by, comment: row.release_comment })
            },
      import:
        row.imported_from === null
          ? undefined
          : {
              from: ImportedFromJson.parse(row.imported_from),
              ...present({ confirmedAt: row.import_confirmed_at, confirmedBy: row.import_confirmed_by })
            },
      adoptedSourceRevision:
        row.adopted_snapshot_id === null
          ? undefined
          : {
              sourceSnapshotId: row.adopted_snapshot_id,
              ref: row.adopted_ref,
              path: row.adopted_path,
              resolvedCommit: row.adopted_commit
            }
    })
  })

/** Returns the public projection of a Capsule. */
export const toCapsule = (row: GuardedCapsuleRow) => Effect.map(authorityGuard(row), (guard) => projected(row, guard))

type Import = Pick<CapsuleRow, "imported_from" | "import_confirmed_at">

/** Returns true if an owner has not yet confirmed that the original installation no longer manages the infrastructure. */
export const isUnconfirmed = ({ import_confirmed_at, imported_from }: Import): boolean =>
  imported_from !== null && import_confirmed_at === null

/** The message for a Run that is refused because the import is unconfirmed. */
export const unconfirmed =
  "The Capsule was imported from another installation and is disabled until an owner confirms that the original no longer manages it."

/**
 * Returns true while the Capsule still has the state from the backup, which the tool has not yet compared with the real
 * infrastructure.
 */
export const hasImportedState = ({
  current_state_generation,
  imported_from
}: Pick<CapsuleRow, "current_state_generation" | "imported_from">): boolean =>
  imported_from !== null && current_state_generation === 1
