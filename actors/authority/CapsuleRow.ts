import { isEnded } from "../../schema/records/CapsuleLifecycle.ts"
import { Effect, Schema } from "effect"
import { Capsule, type CapsuleStatus, type RuntimeSafety, StaleReason } from "../../schema/records/Capsule.ts"
import { present } from "../run/RunRow.ts"
import { Vault } from "../vault/Vault.ts"
import { guardText } from "./AuthorityColumns.ts"

/** A row of `capsules` as the database holds it. */
export interface CapsuleRow {
  readonly id: string
  readonly workspace_id: string
  readonly project_id: string
  readonly name: string
  readonly slug: string
  readonly environment: string
  readonly source_id: string
  readonly module_path: string
  readonly install_config_id: string
  readonly status: CapsuleStatus
  /** JSON. */
  readonly stale_reasons: string
  readonly runtime_safety: RuntimeSafety
  readonly current_state_version_id: string | null
  readonly current_state_generation: number
  readonly execution_authority_epoch: number
  readonly tracked_ref: string
  readonly tracked_path: string
  readonly adopted_snapshot_id: string | null
  readonly adopted_ref: string | null
  readonly adopted_path: string | null
  readonly adopted_commit: string | null
  readonly tool_name: "opentofu" | "terraform" | null
  /** Dependency lock of the last successful apply. */
  readonly provider_lock: string | null
  readonly auto_update_enabled: number
  readonly auto_update_apply: number
  /** A commit that touches nothing of the module does not make it stale. */
  readonly path_filter: number
  /** A snapshot of the lane whose plan met a full queue. */
  readonly deferred_snapshot_id: string | null
  /** Who set the auto-update last: what it starts has their authority. */
  readonly auto_update_by: string | null
  /** The plan of the rollback that holds the Capsule, and the words and choice of who applied it. */
  readonly pinned_run_id: string | null
  readonly pinned_by: string | null
  readonly pinned_at: string | null
  readonly pinned_reason: string | null
  readonly pinned_commit: string | null
  readonly pin_ends_on_commit: number
  readonly drift_status: string
  /** Hours between checks: `NULL` as the Workspace, 0 never. */
  readonly drift_check_hours: number | null
  readonly drift_check_due_at: string | null
  readonly drift_checked_at: string | null
  readonly public_endpoint: string | null
  /** JSON; what a Capsule waits for that has no credential. */
  readonly credential_wait: string | null
  readonly released_at: string | null
  readonly released_by: string | null
  readonly release_reason: string | null
  readonly release_comment: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** A Capsule with the digest of its configuration, as the guard needs it, and with what is wrong with its lane. */
export interface GuardedCapsuleRow extends CapsuleRow {
  readonly install_config_digest: string
  readonly lane_error_code: string | null
  readonly lane_error_message: string | null
  readonly lane_error_since: string | null
}

/** The query of `GuardedCapsuleRow`, to be followed by a condition on `c`. */
export const guardedCapsules = `SELECT c.*, i.digest AS install_config_digest, l.error_code AS lane_error_code,
    l.error_message AS lane_error_message, l.error_since AS lane_error_since
  FROM capsules c JOIN install_configs i ON i.id = c.install_config_id
  LEFT JOIN source_lanes l ON l.source_id = c.source_id
    AND l.ref = COALESCE(c.adopted_ref, c.tracked_ref) AND l.path = COALESCE(c.adopted_path, c.tracked_path)`

const guardPurpose = "authority-guard"

/** Opaque to clients: the same authority gives the same guard; audit times never enter (design section 3). */
export const authorityGuard = (row: GuardedCapsuleRow) =>
  Effect.flatMap(Vault, (vault) => Effect.map(vault.mac(guardPurpose, guardText(row)), (digest) => `ag1.${digest}`))

/** Whether the guard that a client read is still that of the Capsule. */
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

const StaleReasonsJson = Schema.fromJsonString(Schema.Array(StaleReason))
export const encodeStaleReasons = Schema.encodeSync(StaleReasonsJson)
export const decodeStaleReasons = Schema.decodeUnknownSync(StaleReasonsJson)

const decodeCapsule = Schema.decodeUnknownSync(Capsule)

/** The public projection of a Capsule. */
export const toCapsule = Effect.fnUntraced(function* (row: GuardedCapsuleRow) {
  const guard = yield* authorityGuard(row)
  return decodeCapsule({
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
    staleReasons: decodeStaleReasons(row.stale_reasons),
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
      currentStateVersionId: row.current_state_version_id,
      driftCheckedAt: row.drift_checked_at,
      publicEndpoint: row.public_endpoint,
      laneError:
        row.lane_error_code === null || isEnded(row.status)
          ? undefined
          : { code: row.lane_error_code, message: row.lane_error_message ?? "", since: row.lane_error_since },
      waitsForCredential: row.credential_wait === null ? undefined : JSON.parse(row.credential_wait),
      release:
        row.released_at === null
          ? undefined
          : {
              at: row.released_at,
              reason: row.release_reason,
              ...present({ by: row.released_by, comment: row.release_comment })
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
})
