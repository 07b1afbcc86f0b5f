import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { PoolName } from "../../../schema/agent/PoolName.ts"
import { ProvidedName } from "../../../schema/agent/ProvidedName.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { type HeldRecord, type RestoredRecords, type ReviewItem, type ReviewKind } from "../../base/RestoredRecords.ts"
import { PoolWorkspaceRow, ProvisionRow } from "./PoolRows.ts"

const heldColumns = { record_id: Schema.String, previous_status: Schema.String }
const HeldReview = rowShape(heldColumns)
const Handle = rowShape({ handle: Schema.String })

const assignedSince = "assigned since "
const providedSince = "provided since "

const poolOf = Schema.decodeUnknownSync(PoolName)
const nameOf = Schema.decodeUnknownSync(ProvidedName)
const workspaceOf = Schema.decodeUnknownSync(WorkspaceId)

/** Splits an id of the form `POOL/WORKSPACE`. Neither name contains a slash. */
const assignmentOf = (id: string) => {
  const [pool, workspace] = id.split("/")
  return { pool: poolOf(pool), workspace_id: workspaceOf(workspace) }
}

/** `POOL/NAME/WORKSPACE` */
const provisionOf = (id: string) => {
  const [pool, name, workspace] = id.split("/")
  return { pool: poolOf(pool), name: nameOf(name), workspace_id: workspaceOf(workspace) }
}

/**
 * The rows have no status column, so the review suspends a row by deleting it. It keeps the row's key and time, and inserts
 * the row again when the operator confirms it.
 */
const waiting = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: ReviewKind,
  shown: (held: RowOf<typeof heldColumns>) => Pick<ReviewItem, "changedAt" | "description"> & {
    readonly workspaceId: WorkspaceId
  }
) {
  const held = yield* HeldReview.rows(sql)`SELECT record_id, previous_status FROM restore_review
    WHERE kind = ${kind} AND decision IS NULL ORDER BY record_id`
  return yield* Effect.forEach(held, (row) =>
    Effect.gen(function* () {
      const item = shown(row)
      const [workspace] = yield* Handle.rows(sql)`SELECT handle FROM workspaces WHERE id = ${item.workspaceId}`
      const { previous_status: previousStatus, record_id: id } = row
      return { ...item, id, kind, previousStatus, workspace: workspace?.handle ?? null } satisfies ReviewItem
    })
  )
}, Effect.orDie)

/** Reviews which Workspaces may use a pool. */
export const restoredAssignments = Effect.map(SqlClient.SqlClient, (sql): RestoredRecords => {
  const end = (id: string) => {
    const { pool, workspace_id } = assignmentOf(id)
    return Effect.orDie(
      Effect.andThen(
        sql`DELETE FROM agent_pool_provisions WHERE pool = ${pool} AND workspace_id = ${workspace_id}`,
        Effect.asVoid(sql`DELETE FROM agent_pool_workspaces WHERE pool = ${pool} AND workspace_id = ${workspace_id}`)
      )
    )
  }
  return {
    kind: "agent_pool_assignment",
    hold: Effect.gen(function* () {
      const rows = yield* PoolWorkspaceRow.rows(sql)`SELECT * FROM agent_pool_workspaces ORDER BY pool, workspace_id`
      yield* sql`DELETE FROM agent_pool_workspaces`
      return rows.map(
        (row): HeldRecord => ({
          id: `${row.pool}/${row.workspace_id}`,
          previousStatus: `${assignedSince}${row.assigned_at}`
        })
      )
    }).pipe(Effect.orDie),
    pending: waiting(sql, "agent_pool_assignment", ({ previous_status, record_id }) => {
      const { pool, workspace_id } = assignmentOf(record_id)
      return {
        workspaceId: workspace_id,
        description: `may use the pool ${pool}`,
        changedAt: previous_status.slice(assignedSince.length)
      }
    }),
    confirm: (id, status) =>
      Effect.orDie(
        sql`INSERT INTO agent_pool_workspaces ${PoolWorkspaceRow.values(sql, {
          ...assignmentOf(id),
          assigned_at: status.slice(assignedSince.length)
        })} ON CONFLICT DO NOTHING`
      ),
    remove: end
  }
})

/**
 * Reviews which Workspaces may use the credentials of a pool's agents. Such a permission has no effect unless the Workspace
 * is assigned to the pool.
 */
export const restoredProvisions = Effect.map(
  SqlClient.SqlClient,
  (sql): RestoredRecords => ({
    kind: "agent_pool_provision",
    hold: Effect.gen(function* () {
      const rows = yield* ProvisionRow.rows(sql)`SELECT * FROM agent_pool_provisions ORDER BY pool, name, workspace_id`
      yield* sql`DELETE FROM agent_pool_provisions`
      return rows.map(
        (row): HeldRecord => ({
          id: `${row.pool}/${row.name}/${row.workspace_id}`,
          previousStatus: `${providedSince}${row.provided_at}`
        })
      )
    }).pipe(Effect.orDie),
    pending: waiting(sql, "agent_pool_provision", ({ previous_status, record_id }) => {
      const { name, pool, workspace_id } = provisionOf(record_id)
      return {
        workspaceId: workspace_id,
        description: `may use the credentials ${name} of the pool ${pool}`,
        changedAt: previous_status.slice(providedSince.length)
      }
    }),
    confirm: (id, status) =>
      Effect.orDie(
        sql`INSERT INTO agent_pool_provisions ${ProvisionRow.values(sql, {
          ...provisionOf(id),
          provided_at: status.slice(providedSince.length)
        })} ON CONFLICT DO NOTHING`
      ),
    remove: (id) => {
      const { name, pool, workspace_id } = provisionOf(id)
      return Effect.orDie(
        Effect.asVoid(sql`DELETE FROM agent_pool_provisions
          WHERE pool = ${pool} AND name = ${name} AND workspace_id = ${workspace_id}`)
      )
    }
  })
)
