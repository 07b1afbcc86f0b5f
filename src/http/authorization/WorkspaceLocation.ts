import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { OperatorConfigs } from "../../../actors/ledger/configuration/OperatorConfigs.ts"
import { readyMadeOwners } from "../../../actors/ledger/configuration/PublicInstallConfig.ts"
import { CommitCache } from "../../../actors/base/database/CommitCache.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { effectiveRole } from "../../../actors/access/team/CurrentRights.ts"
import type { WorkspaceLocator } from "../../../schema/api/Access.ts"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { MemberStatus, Role } from "../../../schema/records/Workspace.ts"

/** A Workspace that a request affects, with the caller's membership. */
export interface LocatedWorkspace {
  readonly workspaceId: WorkspaceId
  readonly role: Role | undefined
  readonly memberStatus: MemberStatus | undefined
  readonly archived: boolean
}

/** Places in a request that can identify a Workspace through one of its records. */
type RecordLocator = Exclude<WorkspaceLocator, `${string}orkspaceId` | "path.shareId">

const owningTables: Record<RecordLocator, { readonly table: string; readonly noun: string }> = {
  "path.projectId": { table: "projects", noun: "Project" },
  "path.capsuleId": { table: "capsules", noun: "Capsule" },
  "path.dependencyId": { table: "dependencies", noun: "Dependency" },
  "path.capsuleConfigId": { table: "install_configs", noun: "Configuration" },
  "path.installPlanId": { table: "install_plans", noun: "Install plan" },
  "path.pullRequestId": { table: "pull_requests", noun: "Pull request" },
  "path.revisionPlanId": { table: "revision_plans", noun: "Revision plan" },
  "path.sourceId": { table: "sources", noun: "Source" },
  "path.reportId": { table: "compatibility_reports", noun: "Compatibility report" },
  "path.runId": { table: "runs", noun: "Run" },
  "path.runGroupId": { table: "run_groups", noun: "Run group" },
  "path.stateVersionId": { table: "state_versions", noun: "StateVersion" },
  "path.backupId": { table: "backups", noun: "Backup" },
  "path.connectionId": { table: "connections", noun: "Connection" }
}

const LocatedRow = Schema.Struct({
  // Null for records of the operator, which Workspaces must not use.
  workspaceId: Schema.NullOr(WorkspaceId),
  role: Schema.NullOr(Role),
  status: Schema.NullOr(MemberStatus),
  archivedAt: Schema.NullOr(Schema.String),
  /** The highest role that teams grant the caller for the Capsule, as an index into `grantedRoles`. */
  granted: Schema.optionalKey(Schema.NullOr(Schema.Int))
})

const WorkspaceIds = rowShape({ id: WorkspaceId })

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(LocatedRow))

/** Roles that a team may grant, lowest first. */
const grantedRoles: ReadonlyArray<Role> = ["viewer", "member", "admin"]

/** Returns the Workspaces of the found records, or `undefined` if there were no records. */
const located = (rows: ReadonlyArray<typeof LocatedRow.Type>): ReadonlyArray<LocatedWorkspace> | undefined =>
  rows.length === 0
    ? undefined
    : rows.flatMap(({ archivedAt, granted, role, status, workspaceId }) =>
        workspaceId === null
          ? []
          : [
              {
                workspaceId,
                role: effectiveRole(role ?? undefined, granted == null ? [] : grantedRoles.slice(granted, granted + 1)),
                memberStatus: status ?? undefined,
                archived: archivedAt !== null
              }
            ]
      )

// Separates subject and id in a cache key. svc generates the subjects, and they never contain the separator. The id is from
// the request, so it must be last.
const separator = "\u0000"

const unavailable = new ApiError({
  code: "verification_unavailable",
  message: "The membership could not be verified just now. Try again."
})

const joinedMembership = (sql: SqlClient.SqlClient, column: string, subject: string) =>
  sql`LEFT JOIN memberships m ON m.workspace_id = ${sql(column)} AND m.subject = ${subject}`

const joinedWorkspace = (sql: SqlClient.SqlClient, column: string, subject: string) =>
  sql`LEFT JOIN workspaces w ON w.id = ${sql(column)} ${joinedMembership(sql, column, subject)}`

/** Locators whose records belong to exactly one Capsule, with the column that identifies the Capsule. */
const capsuleColumns: Partial<Record<RecordLocator, string>> = {
  "path.capsuleId": "r.id",
  "path.runId": "r.capsule_id"
}

const grantedBy = (sql: SqlClient.SqlClient, locator: RecordLocator, subject: string) => {
  const column = capsuleColumns[locator]
  return column === undefined
    ? sql.literal("NULL")
    : sql`(SELECT MAX(CASE g.role WHEN 'admin' THEN 2 WHEN 'member' THEN 1 ELSE 0 END) FROM team_members tm
        JOIN teams t ON t.id = tm.team_id JOIN team_grants g ON g.team_id = tm.team_id
        JOIN capsules c ON c.id = ${sql.literal(column)}
        WHERE tm.subject = ${subject} AND t.workspace_id = r.workspace_id
          AND (g.project_id IS NULL OR g.project_id = c.project_id)
          AND (g.environment IS NULL OR g.environment = c.environment))`
}

// Look up by unique keys instead of joining: this runs for every request, and in SQLite such a lookup takes a fifth of the time
// of a join.
const selectByRecord = (sql: SqlClient.SqlClient, locator: RecordLocator, id: string, subject: string) => {
  const membership = sql`FROM memberships m WHERE m.workspace_id = r.workspace_id AND m.subject = ${subject}`
  return sql`SELECT r.workspace_id AS "workspaceId", (SELECT m.role ${membership}) AS role,
      (SELECT m.status ${membership}) AS status,
      (SELECT w.archived_at FROM workspaces w WHERE w.id = r.workspace_id) AS "archivedAt",
      ${grantedBy(sql, locator, subject)} AS granted
    FROM ${sql(owningTables[locator].table)} r WHERE r.id = ${id}`
}

const readMemberships = (rows: Effect.Effect<unknown, SqlError>) =>
  rows.pipe(
    Effect.catch((error) => Effect.andThen(Effect.logError("A membership could not be read", error), unavailable)),
    Effect.flatMap((read) => Effect.orDie(decodeRows(read)))
  )

const recordedPlaces = (sql: SqlClient.SqlClient, locator: WorkspaceLocator, id: string, subject: string) => {
  switch (locator) {
    case "path.workspaceId":
    case "query.workspaceId":
    case "body.workspaceId":
    case "body.fromWorkspaceId":
      return sql`SELECT w.id AS "workspaceId", m.role, m.status, w.archived_at AS "archivedAt"
        FROM workspaces w ${joinedMembership(sql, "w.id", subject)} WHERE w.id = ${id}`
    case "path.shareId":
      return sql`SELECT s.to_workspace_id AS "workspaceId", m.role, m.status, w.archived_at AS "archivedAt"
        FROM output_shares s ${joinedWorkspace(sql, "s.to_workspace_id", subject)} WHERE s.id = ${id}
        UNION ALL SELECT s.from_workspace_id, m.role, m.status, w.archived_at
        FROM output_shares s ${joinedWorkspace(sql, "s.from_workspace_id", subject)} WHERE s.id = ${id}`
    default:
      return selectByRecord(sql, locator, id, subject)
  }
}

const nounOf = (locator: WorkspaceLocator): string => {
  switch (locator) {
    case "path.workspaceId":
    case "query.workspaceId":
    case "body.workspaceId":
    case "body.fromWorkspaceId":
      return "Workspace"
    case "path.shareId":
      return "OutputShare"
    default:
      return owningTables[locator].noun
  }
}

/**
 * Finds the Workspaces of a record, or a Workspace by its id, and reads the caller's membership at the same time. Fails with
 * `not_found` for an unknown id, and with `permission_denied` for a record that no Workspace owns.
 */
export const locateWorkspaces = Effect.gen(function* () {
  const sql = yield* ReadSql
  const ownerOfReadyMade = readyMadeOwners(yield* OperatorConfigs)
  const memory = yield* CommitCache
  // Each locator has a separate cache, because a record is rarely looked up through several locators.
  const recordedBy = (locator: WorkspaceLocator) =>
    memory.untilCommit((key) => {
      const end = key.indexOf(separator)
      const [subject, id] = [key.slice(0, end), key.slice(end + separator.length)]
      return Effect.map(readMemberships(recordedPlaces(sql, locator, id, subject)), located)
    })
  const everyWorkspace = WorkspaceIds.rows(sql)`SELECT id FROM workspaces`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    Effect.catch((error) => Effect.andThen(Effect.logError("The Workspaces could not be read", error), unavailable))
  )
  const finders = new Map<WorkspaceLocator, ReturnType<typeof recordedBy>>()

  return (locator: WorkspaceLocator) => {
    const recorded = finders.get(locator) ?? recordedBy(locator)
    finders.set(locator, recorded)
    const noun = nounOf(locator)
    // Finds the Workspace of an operator-provided configuration. The configuration has no record, so its id is derived from
    // the Workspace that lists it.
    const unrecorded = Effect.fnUntraced(function* (id: string, subject: string) {
      const owner = locator === "path.capsuleConfigId" ? yield* ownerOfReadyMade(id, everyWorkspace) : undefined
      const found =
        owner === undefined
          ? undefined
          : located(yield* readMemberships(recordedPlaces(sql, "path.workspaceId", owner, subject)))
      return found ?? (yield* notFound(noun))
    })
    return (id: string, subject: string) =>
      Effect.flatMap(recorded(`${subject}${separator}${id}`), (found) =>
        found === undefined ? unrecorded(id, subject) : Effect.succeed(found)
      )
  }
})
