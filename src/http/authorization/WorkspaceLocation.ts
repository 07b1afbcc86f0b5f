import { Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { OperatorConfigs } from "../../../actors/configuration/OperatorConfigs.ts"
import { readyMadePlaces } from "../../../actors/configuration/PublicInstallConfig.ts"
import type { PointReadsShape } from "../../../actors/database/PointReads.ts"
import { ReadSql } from "../../../actors/database/ReadSql.ts"
import type { WorkspaceLocator } from "../../../schema/api/Access.ts"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { MemberStatus, Role } from "../../../schema/records/Workspace.ts"

/** A Workspace that a request touches, with the caller's membership in it. */
export interface LocatedWorkspace {
  readonly workspaceId: WorkspaceId
  readonly role: Role | undefined
  readonly memberStatus: MemberStatus | undefined
  readonly archived: boolean
}

/** Names the Workspace by a record of it. */
export type RecordLocator = Exclude<WorkspaceLocator, `${string}orkspaceId` | "path.shareId">

const owningTables: Record<RecordLocator, { readonly table: string; readonly noun: string }> = {
  "path.projectId": { table: "projects", noun: "Project" },
  "path.capsuleId": { table: "capsules", noun: "Capsule" },
  "path.dependencyId": { table: "dependencies", noun: "Dependency" },
  "path.capsuleConfigId": { table: "install_configs", noun: "Configuration" },
  "path.installPlanId": { table: "install_plans", noun: "Install plan" },
  "path.revisionPlanId": { table: "revision_plans", noun: "Revision plan" },
  "path.sourceId": { table: "sources", noun: "Source" },
  "path.reportId": { table: "compatibility_reports", noun: "Compatibility report" },
  "path.runId": { table: "runs", noun: "Run" },
  "path.runGroupId": { table: "run_groups", noun: "Run group" },
  "path.stateVersionId": { table: "state_versions", noun: "StateVersion" },
  "path.connectionId": { table: "connections", noun: "Connection" }
}

export const isRecordLocator = (locator: WorkspaceLocator): locator is RecordLocator =>
  Object.hasOwn(owningTables, locator)

const LocatedRow = Schema.Struct({
  // Null for what the operator owns: no Workspace may touch it.
  workspaceId: Schema.NullOr(WorkspaceId),
  role: Schema.NullOr(Role),
  status: Schema.NullOr(MemberStatus),
  archivedAt: Schema.NullOr(Schema.String)
})

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(LocatedRow))

const located = (row: typeof LocatedRow.Type): ReadonlyArray<LocatedWorkspace> =>
  row.workspaceId === null
    ? []
    : [
        {
          workspaceId: row.workspaceId,
          role: row.role ?? undefined,
          memberStatus: row.status ?? undefined,
          archived: row.archivedAt !== null
        }
      ]

const unavailable = new ApiError({
  code: "verification_unavailable",
  message: "The membership could not be verified just now. Try again."
})

const joinedMembership = (sql: SqlClient.SqlClient, column: string, subject: string) =>
  sql`LEFT JOIN memberships m ON m.workspace_id = ${sql(column)} AND m.subject = ${subject}`

const joinedWorkspace = (sql: SqlClient.SqlClient, column: string, subject: string) =>
  sql`LEFT JOIN workspaces w ON w.id = ${sql(column)} ${joinedMembership(sql, column, subject)}`

// Of every request: SQLite takes a fifth of a join's time for look-ups by a unique key.
const selectByRecord = (sql: SqlClient.SqlClient, locator: RecordLocator, id: string, subject: string) => {
  const membership = sql`FROM memberships m WHERE m.workspace_id = r.workspace_id AND m.subject = ${subject}`
  return sql`SELECT r.workspace_id AS "workspaceId", (SELECT m.role ${membership}) AS role,
      (SELECT m.status ${membership}) AS status,
      (SELECT w.archived_at FROM workspaces w WHERE w.id = r.workspace_id) AS "archivedAt"
    FROM ${sql(owningTables[locator].table)} r WHERE r.id = ${id}`
}

const readMemberships = (rows: Effect.Effect<unknown, SqlError>) =>
  rows.pipe(
    Effect.catch((error) => Effect.andThen(Effect.logError("A membership could not be read", error), unavailable)),
    Effect.flatMap((read) => Effect.orDie(decodeRows(read)))
  )

/** A ready-made configuration of the operator has no record: its id says which of the caller's Workspaces it was listed in. */
const locateReadyMade = Effect.fnUntraced(function* (id: string, subject: string) {
  const sql = yield* ReadSql
  const places = readyMadePlaces(yield* OperatorConfigs, id)
  const memberships =
    yield* readMemberships(sql`SELECT w.id AS "workspaceId", m.role, m.status, w.archived_at AS "archivedAt"
    FROM memberships m JOIN workspaces w ON w.id = m.workspace_id WHERE m.subject = ${subject}`)
  return memberships.filter(({ workspaceId }) => workspaceId !== null && places(workspaceId))
})

/**
 * Finds the Workspaces that a record, or a Workspace id given directly, belongs to, and the caller's membership in the
 * same read. Fails with `not_found` for an unknown id, `permission_denied` for what no Workspace owns.
 */
export const locateWorkspaces = Effect.fnUntraced(function* (locator: WorkspaceLocator, id: string, subject: string) {
  const sql = yield* ReadSql
  const query = () => {
    switch (locator) {
      case "path.workspaceId":
      case "query.workspaceId":
      case "body.workspaceId":
      case "body.fromWorkspaceId":
        return {
          noun: "Workspace",
          rows: sql`SELECT w.id AS "workspaceId", m.role, m.status, w.archived_at AS "archivedAt"
            FROM workspaces w ${joinedMembership(sql, "w.id", subject)} WHERE w.id = ${id}`
        }
      case "path.shareId":
        return {
          noun: "OutputShare",
          rows: sql`SELECT s.to_workspace_id AS "workspaceId", m.role, m.status, w.archived_at AS "archivedAt"
            FROM output_shares s ${joinedWorkspace(sql, "s.to_workspace_id", subject)} WHERE s.id = ${id}
            UNION ALL SELECT s.from_workspace_id, m.role, m.status, w.archived_at
            FROM output_shares s ${joinedWorkspace(sql, "s.from_workspace_id", subject)} WHERE s.id = ${id}`
        }
      default:
        return { noun: owningTables[locator].noun, rows: selectByRecord(sql, locator, id, subject) }
    }
  }
  const { noun, rows } = query()
  const recorded = yield* readMemberships(rows)
  const found =
    recorded.length === 0 && locator === "path.capsuleConfigId" ? yield* locateReadyMade(id, subject) : recorded
  if (found.length === 0) return yield* notFound(noun)
  return found.flatMap(located)
})

/** The same for a record of one Workspace, at once. Nothing is found where `locateWorkspaces` has to be asked. */
export const locateAtOnce = (sql: SqlClient.SqlClient, reads: PointReadsShape, locator: RecordLocator) => {
  const read = reads.prepare(LocatedRow, (id, subject) => selectByRecord(sql, locator, id, subject))
  const find = reads.untilCommit((id, subject) => Option.map(read(id, subject), located))
  return (id: string, subject: string): ReadonlyArray<LocatedWorkspace> => Option.getOrElse(find(id, subject), () => [])
}
