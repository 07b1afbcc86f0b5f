import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { CommitCache } from "../../../actors/base/database/CommitCache.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"
import type { WorkspaceAccess, WorkspaceLocator } from "../../../schema/api/Access.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { ProjectId } from "../../../schema/records/Ids.ts"
import { type LimitedPlace, type TokenLimits, withinLimits } from "../../../schema/records/TokenLimits.ts"

const Place = rowShape({ projectId: ProjectId, environment: Schema.NullOr(Schema.String) })

type Places = (sql: SqlClient.SqlClient, id: string) => Effect.Effect<ReadonlyArray<LimitedPlace>, SqlError>

/** Finds the Capsule of a record through its `capsule_id`. */
const byCapsule =
  (table: string): Places =>
  (sql, id) =>
    Place.rows(sql)`SELECT c.project_id AS "projectId", c.environment FROM ${sql(table)} r
      JOIN capsules c ON c.id = r.capsule_id WHERE r.id = ${id}`

const wholeWorkspace: Places = () => Effect.succeed([])

/**
 * Finds the Projects and environments to which a record belongs, depending on how the route finds the record's Workspace.
 * Finds nothing for a record that is outside all Projects.
 */
const placesOf: Record<WorkspaceLocator, Places> = {
  "path.workspaceId": wholeWorkspace,
  "query.workspaceId": wholeWorkspace,
  "body.workspaceId": wholeWorkspace,
  "body.fromWorkspaceId": wholeWorkspace,
  "path.sourceId": wholeWorkspace,
  "path.reportId": wholeWorkspace,
  "path.connectionId": wholeWorkspace,
  "path.shareId": wholeWorkspace,
  // A Source does not belong to a Project, and the head of a pull request may affect Capsules in several Projects.
  "path.pullRequestId": wholeWorkspace,
  // Return no environment, because a Project may contain several environments.
  "path.projectId": (sql, id) =>
    Place.rows(sql)`SELECT id AS "projectId", NULL AS environment FROM projects WHERE id = ${id}`,
  "path.capsuleId": (sql, id) =>
    Place.rows(sql)`SELECT project_id AS "projectId", environment FROM capsules WHERE id = ${id}`,
  "path.dependencyId": (sql, id) => Place.rows(sql)`SELECT c.project_id AS "projectId", c.environment
    FROM dependencies d JOIN capsules c ON c.id IN (d.producer_capsule_id, d.consumer_capsule_id) WHERE d.id = ${id}`,
  "path.capsuleConfigId": (sql, id) =>
    Place.rows(sql)`SELECT project_id AS "projectId", environment FROM capsules WHERE install_config_id = ${id}`,
  "path.installPlanId": byCapsule("install_plans"),
  "path.revisionPlanId": byCapsule("revision_plans"),
  "path.runId": byCapsule("runs"),
  "path.backupId": byCapsule("backups"),
  "path.stateVersionId": byCapsule("state_versions"),
  "path.runGroupId": (sql, id) => Place.rows(sql)`SELECT c.project_id AS "projectId", c.environment FROM capsules c
    WHERE c.id IN (SELECT capsule_id FROM run_group_members WHERE group_id = ${id})
      OR c.id IN (SELECT capsule_id FROM runs WHERE run_group_id = ${id})`
}

const outside = new ApiError({
  code: "permission_denied",
  message: "The token is limited to other Projects or environments."
})
const beyond = new ApiError({
  code: "permission_denied",
  message:
    "The token is limited to Projects or environments, and this concerns more of the Workspace. Use a token without limits."
})
export const limitsUnavailable = new ApiError({
  code: "verification_unavailable",
  message: "The limits of the token could not be verified just now. Try again."
})

/**
 * Confines a limited token to its Projects and environments on every route of a Workspace. Refuses records that are outside
 * all Projects, so that limited tokens cannot use a new route until its rule permits them.
 */
export const confinements = Effect.gen(function* () {
  const sql = yield* ReadSql
  const memory = yield* CommitCache

  return ({ limited, locate }: WorkspaceAccess) => {
    const places = limited === "refused" ? wholeWorkspace : placesOf[locate]
    const find = memory.untilCommit((id) =>
      Effect.catch(places(sql, id), (error) =>
        Effect.andThen(Effect.logError("The limits of a token could not be checked", error), limitsUnavailable)
      )
    )
    /** Fails with `permission_denied` if the record with this id is outside the limits. */
    return (limits: TokenLimits, id: string): Effect.Effect<void, ApiError> =>
      limited === "open"
        ? Effect.void
        : Effect.flatMap(find(id), (found) => {
            if (found.length === 0) return beyond
            return found.every((place) => withinLimits(limits, place)) ? Effect.void : outside
          })
  }
})
