import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AuditHead } from "../../../schema/records/AuditHead.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { now } from "../Identity.ts"
import { AuditChainRow, workspaceOf } from "./AuditChainRow.ts"
import type { AuditKey } from "./AuditLink.ts"

/** Returns the heads of all chains, or of one Workspace's chain. */
export const headOf = Effect.fn("Audit.headOf")(function* (
  key: Pick<AuditKey, "id">,
  installationId: string | undefined,
  workspaceId: WorkspaceId | undefined
): Effect.fn.Return<AuditHead, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const only = workspaceId === undefined ? sql`1 = 1` : sql`scope = ${workspaceId}`
  const rows = yield* Effect.orDie(AuditChainRow.rows(sql)`SELECT * FROM audit_chains WHERE ${only} ORDER BY scope`)
  return {
    kind: "svc.audit-head@v1",
    ...(installationId === undefined ? {} : { installationId }),
    keyId: key.id,
    createdAt: yield* now,
    chains: rows.map((row) => ({
      workspaceId: workspaceOf(row.scope),
      position: row.position,
      count: row.position - row.pruned_position,
      mac: row.mac
    }))
  }
})
