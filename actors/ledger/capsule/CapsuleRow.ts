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

/** The person who turned auto-update on, and the person who changed it last, each with the people behind an automation. */
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
    /** The person who last set auto-update, with whose authority its Runs work. */
    auto_update_by: Schema.NullOr(Schema.String),
    /** The authors of the plans that auto-update starts; `NULL` if an earlier release last set it. */
    auto_update_authors: Schema.NullOr(AutoUpdateAuthorsJson),
    /** A snapshot of the lane whose plan could not be queued because the queue was full. */
    deferred_snapshot_id: Schema.NullOr(SourceSnapshotId),
    /** The newest snapshot of the lane that the Capsule has to decide about, and what started the look that found it. */
    follow_snapshot_id: Schema.NullOr(SourceSnapshotId),
    follow_look: Schema.NullOr(RunTrigger),
    stale_reasons: StaleReasonsJson,
    inputs_compared: Flag,
    /** The plan of the rollback that pins the Capsule, along with the reason and choice of the person who applied it. */
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
    /** The credential that a Capsule is waiting for. */
    credential_wait: Schema.NullOr(CredentialWaitJson),
    /** Hours between checks: `NULL` follows the Workspace, 0 means never. */
    drift_check_hours: Schema.NullOr(Schema.Int),
    drift_check_by: Schema.NullOr(Schema.String),
    drift_check_due_at: Schema.NullOr(Timestamp),
    /** A commit that touches nothing in the module does not make it stale. */
    path_filter: Flag,
    /** For a Capsule from another installation's backup. */
    imported_from: Schema.NullOr(ImportedFromJson),
    import_confirmed_at: Schema.NullOr(Timestamp),
    import_confirmed_by: Schema.NullOr(Schema.String)
  },
  ["stale_reasons", "inputs_compared", "pin_ends_on_commit", "path_filter"]
)
export type CapsuleRow = RowOf<typeof CapsuleRow.columns>

/** A Capsule with everything that its projection and its guard need from other records. */
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

/** The query of `GuardedCapsuleRow`, to be followed by a condition on `c`. */
export const guardedCapsules = `SELECT c.*, i.digest AS install_config_digest, i.compatibility_report_id,
    s.commit_description AS adopted_commit_description, l.error_code AS lane_error_code,
    l.error_message AS lane_error_message, l.error_since AS lane_error_since
  FROM capsules c JOIN install_configs i ON i.id = c.install_config_id
  LEFT JOIN source_snapshots s ON s.id = c.adopted_snapshot_id
  LEFT JOIN source_lanes l ON l.source_id = c.source_id
    AND l.ref = COALESCE(c.adopted_ref, c.tracked_ref) AND l.path = COALESCE(c.adopted_path, c.tracked_path)`

const guardPurpose = "authority-guard"

/** Opaque to clients: the same authority gives the same guard; audit times are never included (design, section 3). */
export const authorityGuard = (row: GuardedCapsuleRow) =>
  Effect.flatMap(Vault, (vault) => Effect.map(vault.mac(guardPurpose, guardText(row)), (digest) => `ag1.${digest}`))

/** True if the guard that a client has read is still the Capsule's current guard. */
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

/** The public projection of a Capsule. */
export const toCapsule = (row: GuardedCapsuleRow) => Effect.map(authorityGuard(row), (guard) => projected(row, guard))

type Import = Pick<CapsuleRow, "imported_from" | "import_confirmed_at">

/** Nobody has yet confirmed that the original no longer manages the infrastructure. */
export const isUnconfirmed = ({ import_confirmed_at, imported_from }: Import): boolean =>
  imported_from !== null && import_confirmed_at === null

/** The reason why an imported Capsule cannot have Runs before its confirmation. */
export const unconfirmed =
  "The Capsule was imported from another installation and is disabled until an owner confirms that the original no longer manages it."

/** Its state is still the backup's: the tool has not yet compared it with the real infrastructure. */
export const hasImportedState = ({
  current_state_generation,
  imported_from
}: Pick<CapsuleRow, "current_state_generation" | "imported_from">): boolean =>
  imported_from !== null && current_state_generation === 1
