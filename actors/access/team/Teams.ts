import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { NewTeam, TeamChange } from "../../../schema/api/TeamsApi.ts"
import { type ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { ProjectId, Subject, TeamId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Team, type TeamGrant } from "../../../schema/records/Team.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { inParts } from "../../base/database/RowParts.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Role } from "../../../schema/records/Workspace.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { permissionDenied, roleHeld } from "../member/InvitationRights.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { markReportsOfWorkspace } from "../../ledger/pull-request-report/ReportMarks.ts"

/** The Workspace, and the person who makes the change. */
export interface OwnerScope {
  readonly workspaceId: WorkspaceId
  readonly subject: string
}

/** Fails unless the acting person is an owner, as read in the caller's transaction. Always fails if the Workspace is archived. */
export const requireOwner = Effect.fn("requireOwner")(function* (
  { subject, workspaceId }: OwnerScope,
  refusal: string
) {
  const sql = yield* SqlClient.SqlClient
  const own = Effect.provideService(SqlClient.SqlClient, sql)
  if ((yield* own(roleHeld(workspaceId, { subject }))) !== "owner") return yield* permissionDenied(refusal)
  yield* own(refuseArchived(workspaceId))
})

/** Teams of a Workspace. */
export const TeamRow = table("teams", {
  id: TeamId,
  workspace_id: WorkspaceId,
  name: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type TeamRow = RowOf<typeof TeamRow.columns>

/** The members of each team. */
export const TeamMemberRow = table("team_members", { team_id: TeamId, subject: Subject })

/** The roles that teams grant in Projects and environments. */
export const TeamGrantRow = table("team_grants", {
  team_id: TeamId,
  position: Schema.Int,
  project_id: Schema.NullOr(ProjectId),
  environment: Schema.NullOr(Schema.String),
  role: Role
})
export type TeamGrantRow = RowOf<typeof TeamGrantRow.columns>

const decode = storedRecord(Team)

/** Builds a team from its row, its members and its grants. */
const toTeam = (row: TeamRow, members: ReadonlyArray<Subject>, grants: ReadonlyArray<TeamGrantRow>): Team =>
  decode({
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    members,
    grants: grants.map(({ environment, project_id, role }) => ({
      ...(project_id === null ? {} : { projectId: project_id }),
      ...(environment === null ? {} : { environment }),
      role
    })),
    createdAt: row.created_at,
    updatedAt: row.updated_at
  })

/** Formats a grant for the audit trail: `admin in <project>/<environment>`. */
const grantWords = ({ environment, projectId, role }: TeamGrant): string =>
  `${role} in ${projectId ?? "*"}/${environment ?? "*"}`

/**
 * Teams of a Workspace. The only writer of the team tables, except for the trigger that removes suspended members. Only
 * owners may change a team, because teams grant roles and determine whose approvals count.
 */
export class Teams extends Context.Service<
  Teams,
  {
    readonly list: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Team>, ApiError>
    readonly create: (context: CommandContext, scope: OwnerScope, team: NewTeam) => Effect.Effect<Team, ApiError>
    /** `members` and `grants` replace the existing lists. */
    readonly update: (
      context: CommandContext,
      scope: OwnerScope,
      id: TeamId,
      change: TeamChange
    ) => Effect.Effect<Team, ApiError>
    /** Fails with `failed_precondition` while an approval rule refers to the team. */
    readonly remove: (context: CommandContext, scope: OwnerScope, id: TeamId) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/team/Teams") {
  static readonly layer = Layer.effect(
    Teams,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const cursors = yield* Cursors
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const allowed = (scope: OwnerScope) =>
        requireOwner(scope, "Only owners change teams.").pipe(Effect.provideService(SqlClient.SqlClient, sql))

      const whole = Effect.fnUntraced(function* (client: SqlClient.SqlClient, row: TeamRow) {
        const members = yield* TeamMemberRow.rows(
          client
        )`SELECT * FROM team_members WHERE team_id = ${row.id} ORDER BY subject`
        const grants = yield* TeamGrantRow.rows(
          client
        )`SELECT * FROM team_grants WHERE team_id = ${row.id} ORDER BY position`
        const subjects = members.map(({ subject }) => subject)
        return toTeam(row, subjects, grants)
      }, Effect.orDie)

      const find = Effect.fnUntraced(function* ({ workspaceId }: OwnerScope, id: TeamId) {
        const [row] = yield* Effect.orDie(
          TeamRow.rows(sql)`SELECT * FROM teams WHERE id = ${id} AND workspace_id = ${workspaceId}`
        )
        return row === undefined ? yield* notFound("Team") : row
      })

      const refuseTaken = Effect.fnUntraced(function* (scope: OwnerScope, name: string) {
        const taken = yield* Effect.orDie(
          sql`SELECT 1 AS one FROM teams WHERE workspace_id = ${scope.workspaceId} AND name = ${name}`
        )
        if (taken.length > 0) return yield* failedPrecondition("name: another team of this Workspace has it.")
      })

      const replaceMembers = Effect.fnUntraced(function* (
        { workspaceId }: OwnerScope,
        id: TeamId,
        members: ReadonlyArray<Subject>
      ) {
        yield* Effect.orDie(sql`DELETE FROM team_members WHERE team_id = ${id}`)
        const wanted = [...new Set(members)]
        const active = yield* Effect.orDie(MembershipRow.some(sql, "subject")`SELECT subject FROM memberships
          WHERE workspace_id = ${workspaceId} AND status = 'active' AND ${sql.in("subject", wanted)}`)
        const stranger = wanted.find((subject) => !active.some((row) => row.subject === subject))
        if (stranger !== undefined) {
          return yield* failedPrecondition(`members: ${stranger} is not an active member of this Workspace.`)
        }
        const rows = wanted.map((subject) => ({ team_id: id, subject }))
        yield* Effect.orDie(inParts(rows, (some) => sql`INSERT INTO team_members ${TeamMemberRow.several(sql, some)}`))
      })

      const replaceGrants = Effect.fnUntraced(function* (
        { workspaceId }: OwnerScope,
        id: TeamId,
        grants: ReadonlyArray<TeamGrant>
      ) {
        yield* Effect.orDie(sql`DELETE FROM team_grants WHERE team_id = ${id}`)
        const named = new Set(grants.flatMap(({ projectId }) => projectId ?? []))
        const own = yield* Effect.orDie(
          sql`SELECT id FROM projects WHERE workspace_id = ${workspaceId} AND ${sql.in("id", [...named])}`
        )
        if (own.length < named.size) return yield* invalidRequest("grants: no Project of this Workspace.")
        const rows = grants.map(({ environment, projectId, role }, position) => ({
          team_id: id,
          position,
          project_id: projectId ?? null,
          environment: environment ?? null,
          role
        }))
        yield* Effect.orDie(inParts(rows, (some) => sql`INSERT INTO team_grants ${TeamGrantRow.several(sql, some)}`))
      })

      const audited = (context: CommandContext, action: string, { id, workspace_id }: TeamRow, data: AuditData) =>
        audit.append({
          workspaceId: workspace_id,
          actor: context.actor,
          action,
          target: { kind: "team", id },
          data,
          requestId: context.requestId
        })

      const fill = Effect.fnUntraced(function* (scope: OwnerScope, row: TeamRow, change: TeamChange) {
        if (change.members !== undefined) yield* replaceMembers(scope, row.id, change.members)
        if (change.grants !== undefined) yield* replaceGrants(scope, row.id, change.grants)
        return yield* whole(sql, row)
      })

      const words = ({ grants, members, name }: Team) => ({ name, members, grants: grants.map(grantWords) })

      return Teams.of({
        list: Effect.fn("Teams.list")(function* (workspaceId, page) {
          const list = {
            route: "teams.list",
            newestFirst: false,
            conditions: [read`workspace_id = ${workspaceId}`],
            filter: [workspaceId]
          }
          const found = yield* pageOfRows(TeamRow, read, cursors, list, page)
          return { ...found, items: yield* Effect.forEach(found.items, (row) => whole(read, row)) }
        }),
        create: Effect.fn("Teams.create")(function* (context, scope, team) {
          yield* allowed(scope)
          yield* refuseTaken(scope, team.name)
          const at = yield* now
          const row: TeamRow = {
            id: yield* newId(TeamId, "team").pipe(withRandom),
            workspace_id: scope.workspaceId,
            name: team.name,
            created_at: at,
            updated_at: at
          }
          yield* Effect.orDie(sql`INSERT INTO teams ${TeamRow.values(sql, row)}`)
          const made = yield* fill(scope, row, team)
          yield* markReportsOfWorkspace(sql, scope.workspaceId)
          yield* audited(context, "team.create", row, words(made))
          return made
        }, transaction(sql)),
        update: Effect.fn("Teams.update")(function* (context, scope, id, change) {
          yield* allowed(scope)
          const before = yield* find(scope, id)
          if (change.name !== undefined && change.name !== before.name) yield* refuseTaken(scope, change.name)
          const row: TeamRow = { ...before, name: change.name ?? before.name, updated_at: yield* now }
          yield* Effect.orDie(sql`UPDATE teams SET ${TeamRow.changes(sql, row)} WHERE id = ${id}`)
          const made = yield* fill(scope, row, change)
          yield* markReportsOfWorkspace(sql, scope.workspaceId)
          yield* audited(context, "team.update", row, words(made))
          return made
        }, transaction(sql)),
        remove: Effect.fn("Teams.remove")(function* (context, scope, id) {
          yield* allowed(scope)
          const row = yield* find(scope, id)
          const rules = yield* Effect.orDie(sql`SELECT 1 AS one FROM approval_rules WHERE team_id = ${id}`)
          if (rules.length > 0) {
            return yield* failedPrecondition("An approval rule uses the team. Change or remove the rule first.")
          }
          yield* Effect.orDie(sql`DELETE FROM team_members WHERE team_id = ${id}`)
          yield* Effect.orDie(sql`DELETE FROM team_grants WHERE team_id = ${id}`)
          yield* Effect.orDie(sql`DELETE FROM teams WHERE id = ${id}`)
          yield* markReportsOfWorkspace(sql, scope.workspaceId)
          yield* audited(context, "team.remove", row, { name: row.name })
        }, transaction(sql))
      })
    })
  )
}
