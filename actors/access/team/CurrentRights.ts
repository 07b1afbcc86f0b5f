import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { ProjectId, Subject, TeamId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { type Role, roleAtLeast, SubjectKind } from "../../../schema/records/Workspace.ts"
import { rowShape } from "../../base/database/Table.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import { TeamGrantRow, TeamMemberRow } from "./Teams.ts"

/** The Project and environment of a Capsule. */
export interface CapsulePlace {
  readonly workspaceId: WorkspaceId
  readonly projectId: ProjectId
  readonly environment: string
}

/** A subject's current rights for a Capsule. */
export interface CurrentRights {
  readonly kind: SubjectKind
  /** Absent if there is no active membership of an active account, even if teams grant roles. */
  readonly role: Role | undefined
  readonly teamIds: ReadonlySet<TeamId>
}

/**
 * Returns the highest of the member's role and the roles that teams grant for the Project and environment. If the person has
 * no membership, teams grant nothing.
 */
export const effectiveRole = (held: Role | undefined, granted: ReadonlyArray<Role>): Role | undefined =>
  held === undefined
    ? undefined
    : granted.reduce((highest, role) => (roleAtLeast(role, highest) ? role : highest), held)

const HeldRole = rowShape({
  subject: MembershipRow.columns.subject,
  role: MembershipRow.columns.role,
  kind: SubjectKind
})
const GrantedRole = rowShape(Struct.pick(TeamGrantRow.columns, ["team_id", "role", "project_id", "environment"]))

/**
 * Returns the rights of these subjects in every place of a Workspace, read in the caller's transaction by a fixed number of
 * queries. The rights of a place have an entry for every subject.
 */
export const rightsWithin = Effect.fn("rightsWithin")(function* (
  workspaceId: WorkspaceId,
  subjects: ReadonlyArray<Subject>
) {
  const sql = yield* SqlClient.SqlClient
  if (subjects.length === 0) return () => new Map<Subject, CurrentRights>()
  const held = yield* HeldRole.rows(
    sql
  )`SELECT m.subject, m.role, u.kind FROM memberships m JOIN users u ON u.subject = m.subject
    WHERE m.workspace_id = ${workspaceId} AND m.status = 'active' AND u.status = 'active'
      AND ${sql.in("m.subject", subjects)}`
  const teams = yield* TeamMemberRow.some(sql, "team_id", "subject")`SELECT m.team_id, m.subject FROM team_members m
    JOIN teams t ON t.id = m.team_id WHERE t.workspace_id = ${workspaceId} AND ${sql.in("m.subject", subjects)}`
  const grants = yield* GrantedRole.rows(
    sql
  )`SELECT g.team_id, g.role, g.project_id, g.environment FROM team_grants g JOIN teams t ON t.id = g.team_id
    WHERE t.workspace_id = ${workspaceId}`
  return ({ environment, projectId }: Omit<CapsulePlace, "workspaceId">) =>
    new Map(
      subjects.map((subject): [Subject, CurrentRights] => {
        const teamIds = new Set(teams.flatMap((row) => (row.subject === subject ? [row.team_id] : [])))
        const granted = grants.flatMap((grant) =>
          teamIds.has(grant.team_id) &&
          (grant.project_id === null || grant.project_id === projectId) &&
          (grant.environment === null || grant.environment === environment)
            ? [grant.role]
            : []
        )
        const own = held.find((row) => row.subject === subject)
        // Without a membership, a person has no rights.
        return [subject, { kind: own?.kind ?? "person", role: effectiveRole(own?.role, granted), teamIds }]
      })
    )
}, Effect.orDie)

/** Returns the rights of these subjects, read in the caller's transaction. The result has an entry for every subject. */
export const currentRights = Effect.fn("currentRights")(function* (
  place: CapsulePlace,
  subjects: ReadonlyArray<Subject>
) {
  return (yield* rightsWithin(place.workspaceId, subjects))(place)
})
