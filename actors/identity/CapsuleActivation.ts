import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { canonicalJson } from "../idempotency/RequestDigest.ts"
import type { CapsuleStatus } from "../../schema/records/Capsule.ts"
import { isInService } from "../../schema/records/CapsuleLifecycle.ts"

const contract = "svc.accounts-oidc-activation/v1"

/** A Capsule as its identity hangs on it. */
export interface CapsuleAuthority {
  readonly workspace_id: string
  readonly capsule_id: string
  readonly status: CapsuleStatus
  readonly execution_authority_epoch: number
  readonly install_config_id: string
  readonly install_config_digest: string
  readonly source_snapshot_id: string | null
  readonly config: string
}

/** The Capsule with its present configuration, read through `sql`. */
export const readCapsuleAuthority = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, capsuleId: string) {
  const rows = yield* sql<CapsuleAuthority>`SELECT c.workspace_id, c.id AS capsule_id, c.status,
      c.execution_authority_epoch, i.id AS install_config_id, i.digest AS install_config_digest, i.source_snapshot_id,
      i.config
    FROM capsules c JOIN install_configs i ON i.id = c.install_config_id WHERE c.id = ${capsuleId}`
  return rows[0]
})

/**
 * The activation digest of a Capsule's present authority: Workspace, Capsule, epoch and the full InstallConfig, whose digest
 * covers module, provenance, manifest pins, inputs and bindings.
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

/** No identity is lent to a Capsule that a person switched off or that is gone. */
export const isServing = (authority: CapsuleAuthority): boolean => isInService(authority.status)
