import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { InstallConfigRow } from "../../ledger/configuration/InstallConfigStore.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"

const contract = "svc.accounts-oidc-activation/v1"

/** The facts about a Capsule that determine its identity. */
const CapsuleAuthority = rowShape({
  workspace_id: CapsuleRow.columns.workspace_id,
  capsule_id: CapsuleRow.columns.id,
  status: CapsuleRow.columns.status,
  execution_authority_epoch: CapsuleRow.columns.execution_authority_epoch,
  install_config_id: InstallConfigRow.columns.id,
  install_config_digest: InstallConfigRow.columns.digest,
  source_snapshot_id: InstallConfigRow.columns.source_snapshot_id,
  config: InstallConfigRow.columns.config
})
export type CapsuleAuthority = RowOf<typeof CapsuleAuthority.columns>

/** Reads the Capsule with its current configuration through `sql`. */
export const readCapsuleAuthority = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, capsuleId: CapsuleId) {
  const rows = yield* CapsuleAuthority.rows(sql)`SELECT c.workspace_id, c.id AS capsule_id, c.status,
      c.execution_authority_epoch, i.id AS install_config_id, i.digest AS install_config_digest, i.source_snapshot_id,
      i.config
    FROM capsules c JOIN install_configs i ON i.id = c.install_config_id WHERE c.id = ${capsuleId}`
  return rows[0]
})

/**
 * Computes the digest of a Capsule's current authority: Workspace, Capsule, epoch and InstallConfig. The InstallConfig's own
 * digest covers module, provenance, manifest pins, inputs and bindings.
 */
export const activationDigest = (authority: CapsuleAuthority): string =>
  `sha256:${createHash("sha256")
    .update(
      canonicalJson({
        contract,
        workspaceId: authority.workspace_id,
        capsuleId: authority.capsule_id,
        executionAuthorityEpoch: authority.execution_authority_epoch,
        installConfigId: authority.install_config_id,
        installConfigDigest: authority.install_config_digest,
        sourceSnapshotId: authority.source_snapshot_id
      })
    )
    .digest("hex")}`

/** Returns false for a disabled or ended Capsule, which has no identity. */
export const isServing = (authority: CapsuleAuthority): boolean => isInService(authority.status)
