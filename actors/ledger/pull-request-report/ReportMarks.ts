import { Clock, Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type {
  CapsuleId,
  ConnectionId,
  PullRequestId,
  RunId,
  SourceId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { isSamePullRequest } from "../pull-request/SamePullRequest.ts"
import { followedAfterMerge } from "./PullRequestReports.ts"

/**
 * Marks of reports. Call each in the transaction of the change. Each is one statement, and a report that shows the same as before
 * sends no request, so a mark may cover more pull requests than the change affects.
 */

/** Excludes pull requests that no report shows any more. */
const followed = (sql: SqlClient.SqlClient, row: "p" | "q") =>
  Effect.map(Clock.currentTimeMillis, (at) => {
    const since = new Date(at - Duration.toMillis(followedAfterMerge)).toISOString()
    const one = sql.literal(row)
    return sql`(${one}.state = 'open' OR (${one}.state = 'merged' AND ${one}.closed_at > ${since}))`
  })

/**
 * Marks the reports that show this Run: the report of its pull request, and the reports of merged pull requests and of merge groups
 * that affect its Capsule. One Source may see a merge later than another Source of the repository.
 */
export const markReports = (sql: SqlClient.SqlClient, runId: RunId) =>
  Effect.orDie(sql`UPDATE pull_request_reports SET due = due + 1 WHERE id IN (
    SELECT coordinator_id FROM runs WHERE id = ${runId} AND coordinator_kind = 'pull_request'
    UNION SELECT c.pull_request_id FROM runs r JOIN pull_request_capsules c ON c.capsule_id = r.capsule_id
      JOIN pull_requests p ON p.id = c.pull_request_id
        AND (p.state = 'merged' OR (p.state = 'open' AND p.merge_group IS NOT NULL)
          OR EXISTS (SELECT 1 FROM pull_requests q WHERE ${sql.literal(isSamePullRequest)} AND q.state = 'merged'))
      WHERE r.id = ${runId} AND c.touched = 1)`)

/** Marks the report of a pull request, because its review or the Capsules that it affects have changed. */
export const markReport = (sql: SqlClient.SqlClient, id: PullRequestId) =>
  Effect.asVoid(Effect.orDie(sql`UPDATE pull_request_reports SET due = due + 1 WHERE id = ${id}`))

/** Marks the reports of a Source's pull requests, also those that another Source of the same repository writes. */
export const markReportsOfSource = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, sourceId: SourceId) {
  yield* sql`UPDATE pull_request_reports SET due = due + 1 WHERE id IN (
    SELECT p.id FROM pull_requests p WHERE p.source_id = ${sourceId} AND ${yield* followed(sql, "p")}
    UNION SELECT q.id FROM pull_requests p JOIN pull_requests q ON ${sql.literal(isSamePullRequest)}
      WHERE p.source_id = ${sourceId} AND ${yield* followed(sql, "q")})`
}, Effect.orDie)

/** Marks the reports of a Workspace, because a change may affect who may approve. */
export const markReportsOfWorkspace = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) {
  yield* sql`UPDATE pull_request_reports SET due = due + 1 WHERE workspace_id = ${workspaceId} AND id IN (
    SELECT p.id FROM pull_requests p WHERE p.workspace_id = ${workspaceId} AND ${yield* followed(sql, "p")})`
}, Effect.orDie)

/** Marks the reports of every Workspace of an account, because its approvals may count no longer, or again. */
export const markReportsOfAccount = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, subject: string) {
  yield* sql`UPDATE pull_request_reports SET due = due + 1 WHERE id IN (
    SELECT p.id FROM memberships m JOIN pull_requests p ON p.workspace_id = m.workspace_id
      WHERE m.subject = ${subject} AND ${yield* followed(sql, "p")})`
}, Effect.orDie)

/** Marks the reports that show a Capsule, because it, its inputs or its Connections have changed. */
export const markReportsOfCapsule = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, capsuleId: CapsuleId) {
  yield* sql`UPDATE pull_request_reports SET due = due + 1 WHERE id IN (
    SELECT p.id FROM pull_request_capsules c JOIN pull_requests p ON p.id = c.pull_request_id
      WHERE c.capsule_id = ${capsuleId} AND c.touched = 1 AND ${yield* followed(sql, "p")})`
}, Effect.orDie)

/** Marks the reports that show a Capsule which uses Outputs of this Capsule. */
export const markReportsOfConsumers = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, producerId: CapsuleId) {
  yield* sql`UPDATE pull_request_reports SET due = due + 1 WHERE id IN (
    SELECT p.id FROM pull_request_capsules c JOIN pull_requests p ON p.id = c.pull_request_id
      WHERE c.touched = 1 AND ${yield* followed(sql, "p")} AND c.capsule_id IN (
        SELECT consumer_capsule_id FROM dependencies WHERE producer_capsule_id = ${producerId}
        UNION SELECT capsule_id FROM consumed_inputs WHERE producer_capsule_id = ${producerId}))`
}, Effect.orDie)

/**
 * Marks the reports that svc writes with this Connection, and those that show a Capsule which binds it, because approvals of a
 * change do not count for other credentials.
 */
export const markReportsOfConnection = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  connectionId: ConnectionId
) {
  yield* sql`UPDATE pull_request_reports SET due = due + 1 WHERE id IN (
    SELECT p.id FROM sources s JOIN pull_requests p ON p.source_id = s.id
      WHERE s.forge_connection_id = ${connectionId} AND ${yield* followed(sql, "p")}
    UNION SELECT p.id FROM provider_bindings b JOIN capsules c ON c.install_config_id = b.install_config_id
      JOIN pull_request_capsules j ON j.capsule_id = c.id AND j.touched = 1
      JOIN pull_requests p ON p.id = j.pull_request_id
      WHERE b.connection_id = ${connectionId} AND ${yield* followed(sql, "p")})`
}, Effect.orDie)
