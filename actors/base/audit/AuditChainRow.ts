import { Schema } from "effect"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type RowOf, table } from "../database/Table.ts"

/** The chain of the events that belong to no Workspace. */
export const installationScope = ""

/** Which events a chain links: those of a Workspace, or those of the installation and its accounts. */
export const AuditScope = Schema.Union([WorkspaceId, Schema.Literal(installationScope)])
export type AuditScope = typeof AuditScope.Type

/** The head of a chain: its newest link, and the newest link that retention removed. */
export const AuditChainRow = table("audit_chains", {
  scope: AuditScope,
  position: Schema.Int,
  mac: Schema.String,
  pruned_position: Schema.Int,
  pruned_mac: Schema.String,
  /**
   * In the row of the installation: how many Workspaces have a chain; `null` until the events from earlier releases have
   * positions.
   */
  chains: Schema.NullOr(Schema.Int),
  /** Keyed digest of the row. */
  seal: Schema.String
})
export type AuditChainRow = RowOf<typeof AuditChainRow.columns>

/** The Workspace of a chain; `null` for the chain of the installation. */
export const workspaceOf = (scope: AuditScope): WorkspaceId | null => (scope === installationScope ? null : scope)
