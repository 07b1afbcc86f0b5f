import { Effect, Option, Schema } from "effect"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type RowOf, rowShape, table } from "../database/Table.ts"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"

/** The chain for events that belong to no Workspace. */
export const installationScope = ""

/** The owner of a chain: a Workspace, or the installation including its accounts. */
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
   * In the installation's row: the number of Workspaces with a chain, or `null` until events from earlier releases have been
   * linked into chains.
   */
  chains: Schema.NullOr(Schema.Int),
  /** Keyed digest of the row. */
  seal: Schema.String
})
export type AuditChainRow = RowOf<typeof AuditChainRow.columns>

/** Returns the Workspace of a chain, or `null` for the chain of the installation. */
export const workspaceOf = (scope: AuditScope): WorkspaceId | null => (scope === installationScope ? null : scope)

const EventTime = rowShape({ created_at: Timestamp })

/**
 * Returns the recorded time of the newest event in the installation's chain. Selects the event by its position, because the
 * times may come from a clock that was wrong.
 */
export const newestEventTime = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [event] = yield* EventTime.rows(sql)`SELECT created_at FROM audit_events WHERE workspace_id IS NULL
    AND position = (SELECT position FROM audit_chains WHERE scope = ${installationScope})`
  return Option.map(Option.fromNullishOr(event), ({ created_at }) => created_at)
})
