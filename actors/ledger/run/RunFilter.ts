import type { SqlClient, Statement } from "effect/sql"
import type { RunStatus, RunTrigger, RunType } from "../../../schema/records/Run.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { notSpeculative, speculative } from "../../../schema/tables/RunTables.ts"
import { withStoredSpelling } from "../../../schema/records/EmailAddress.ts"

/** Maximum number of words in a search. */
const mostWords = 8

// Matches the start of a Run id. "run" alone is treated as an ordinary word, because every Run id starts with it.
const beginsAnId = /^[a-z]+_[a-z0-9]+$/
const beginsACommit = /^[0-9a-f]{4,64}$/

const searchWords = (text: string): ReadonlyArray<string> =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, mostWords)

/**
 * Returns conditions on `runs`, one per search word. Looks up matching names in the Workspace once, so that each Run is compared
 * using only columns of the list's index.
 */
const searchConditions = (
  sql: SqlClient.SqlClient,
  workspaceId: WorkspaceId,
  text: string
): ReadonlyArray<Statement.Fragment> => {
  const contains = (word: string, ...columns: ReadonlyArray<string>) =>
    sql.or(
      columns.map((column) => sql`REPLACE(LOWER(${sql.literal(column)}), ${word}, '') <> LOWER(${sql.literal(column)})`)
    )
  const begins = (word: string, column: string) => sql`SUBSTR(${sql.literal(column)}, 1, ${word.length}) = ${word}`
  return searchWords(text).map((word) => {
    const titles = contains(
      word,
      "json_extract(n.commit_description, '$.title')",
      "json_extract(n.commit_description, '$.authorName')"
    )
    const commits = beginsACommit.test(word) ? sql.or([titles, begins(word, "n.resolved_commit")]) : titles
    return sql.or([
      sql`capsule_id IN (SELECT c.id FROM capsules c JOIN projects p ON p.id = c.project_id
        WHERE c.workspace_id = ${workspaceId} AND ${contains(word, "c.name", "c.environment", "p.name")})`,
      sql`source_id IN (SELECT s.id FROM sources s WHERE s.workspace_id = ${workspaceId} AND ${contains(word, "s.name")})`,
      sql`source_snapshot_id IN (SELECT n.id FROM sources s JOIN source_snapshots n ON n.source_id = s.id
        WHERE s.workspace_id = ${workspaceId} AND ${commits})`,
      sql`created_by IN (SELECT u.subject FROM memberships m JOIN users u ON u.subject = m.subject
        WHERE m.workspace_id = ${workspaceId} AND m.status = 'active' AND ${sql.or([contains(word, "u.display_name", "u.email"), contains(withStoredSpelling(word), "u.email")])})`,
      ...(beginsAnId.test(word)
        ? ["id", "capsule_id", "source_id", "source_snapshot_id"].map((column) => begins(word, column))
        : [])
    ])
  })
}

/** Filters for a list of Runs. */
export interface RunFilter {
  readonly search?: string | undefined
  readonly capsuleId?: string | undefined
  readonly sourceId?: string | undefined
  /** The subject who started the Run. */
  readonly actor?: string | undefined
  readonly type?: ReadonlyArray<RunType> | undefined
  readonly status?: ReadonlyArray<RunStatus> | undefined
  readonly trigger?: ReadonlyArray<RunTrigger> | undefined
  /** If true, selects only speculative plans; if false, selects all other Runs. */
  readonly speculative?: boolean | undefined
  /** An ISO 8601 time, inclusive. */
  readonly since?: string | undefined
  /** An ISO 8601 time, exclusive. */
  readonly until?: string | undefined
  /**
   * If true, includes syncs started by webhooks and schedules that found nothing new, as long as these syncs have not been
   * removed.
   */
  readonly includeLooks?: boolean | undefined
}

/** Returns all conditions of a filter except those on facets. They select the Runs to count. */
export const countedConditions = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId, filter: RunFilter) => [
  sql`workspace_id = ${workspaceId}`,
  ...(filter.includeLooks === true ? [] : [sql`quiet = 0`]),
  ...(filter.speculative === undefined ? [] : [sql.literal(filter.speculative ? speculative() : notSpeculative())]),
  ...(filter.sourceId === undefined ? [] : [sql`source_id = ${filter.sourceId}`]),
  ...(filter.since === undefined ? [] : [sql`created_at >= ${filter.since}`]),
  ...(filter.until === undefined ? [] : [sql`created_at < ${filter.until}`]),
  ...(filter.search === undefined ? [] : searchConditions(sql, workspaceId, filter.search))
]

/** Returns the conditions of a filter for the `WHERE` clause of a query on `runs`. */
export const matching = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId, filter: RunFilter) => [
  ...countedConditions(sql, workspaceId, filter),
  ...(filter.capsuleId === undefined ? [] : [sql`capsule_id = ${filter.capsuleId}`]),
  ...(filter.actor === undefined ? [] : [sql`created_by = ${filter.actor}`]),
  ...(filter.type === undefined ? [] : [sql.in("type", filter.type)]),
  ...(filter.status === undefined ? [] : [sql.in("status", filter.status)]),
  ...(filter.trigger === undefined ? [] : [sql.in("trigger_kind", filter.trigger)])
]

/** Returns the values of a filter in a fixed order, to bind a cursor to its list. */
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
  filter.includeLooks === true ? "looks" : undefined,
  filter.speculative === undefined ? undefined : `speculative ${filter.speculative}`
]
