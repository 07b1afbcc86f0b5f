import type { SqlClient } from "effect/sql"
import type { RunStatus, RunTrigger, RunType } from "../../../schema/records/Run.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { searchConditions } from "./RunSearch.ts"

/** The Runs that a caller asks for. */
export interface RunFilter {
  readonly search?: string | undefined
  readonly capsuleId?: string | undefined
  readonly sourceId?: string | undefined
  /** The subject who started the Run. */
  readonly actor?: string | undefined
  readonly type?: ReadonlyArray<RunType> | undefined
  readonly status?: ReadonlyArray<RunStatus> | undefined
  readonly trigger?: ReadonlyArray<RunTrigger> | undefined
  /** ISO 8601, inclusive. */
  readonly since?: string | undefined
  /** ISO 8601, exclusive. */
  readonly until?: string | undefined
  /** Includes syncs by webhooks and schedules that found nothing new, while they are kept. */
  readonly includeLooks?: boolean | undefined
}

/** Which Runs are counted at all: every condition except the facets. */
export const countedConditions = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId, filter: RunFilter) => [
  sql`workspace_id = ${workspaceId}`,
  ...(filter.includeLooks === true ? [] : [sql`quiet = 0`]),
  ...(filter.sourceId === undefined ? [] : [sql`source_id = ${filter.sourceId}`]),
  ...(filter.since === undefined ? [] : [sql`created_at >= ${filter.since}`]),
  ...(filter.until === undefined ? [] : [sql`created_at < ${filter.until}`]),
  ...(filter.search === undefined ? [] : searchConditions(sql, workspaceId, filter.search))
]

/** The conditions of a filter, for a `WHERE` on `runs`. */
export const matching = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId, filter: RunFilter) => [
  ...countedConditions(sql, workspaceId, filter),
  ...(filter.capsuleId === undefined ? [] : [sql`capsule_id = ${filter.capsuleId}`]),
  ...(filter.actor === undefined ? [] : [sql`created_by = ${filter.actor}`]),
  ...(filter.type === undefined ? [] : [sql.in("type", filter.type)]),
  ...(filter.status === undefined ? [] : [sql.in("status", filter.status)]),
  ...(filter.trigger === undefined ? [] : [sql.in("trigger_kind", filter.trigger)])
]

/** All values of a filter in a fixed order: a cursor is valid only for the list it came from. */
export const filterKey = (filter: RunFilter): ReadonlyArray<string | undefined> => [
  filter.search,
  filter.capsuleId,
  filter.sourceId,
  filter.actor,
  filter.type?.join(","),
  filter.status?.join(","),
  filter.trigger?.join(","),
  filter.since,
  filter.until,
  filter.includeLooks === true ? "looks" : undefined
]
