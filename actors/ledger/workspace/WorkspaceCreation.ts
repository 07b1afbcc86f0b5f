import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { MembershipId, ProjectId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { newId, now } from "../../base/Identity.ts"
import { MembershipRow } from "./MembershipRow.ts"
import { StoredWorkspace } from "./StoredWorkspace.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** Projects of a Workspace. */
export const ProjectRow = table("projects", {
  id: ProjectId,
  workspace_id: WorkspaceId,
  name: Schema.String,
  slug: Schema.String,
  is_default: Flag,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type ProjectRow = RowOf<typeof ProjectRow.columns>

export interface WorkspaceToCreate {
  readonly handle: string
  readonly displayName: string
  readonly type: "personal" | "organization"
  readonly owner: string
}

/** Derives a valid handle from any text; never empty. */
export const handleFrom = (text: string): string => {
  const plain = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, 30)
    .replace(/-$/, "")
  return plain.length >= 2 ? plain : `ws-${plain}`.replace(/-$/, "")
}

/** Creates the default Project if the Workspace has none. Runs in the caller's transaction. */
export const ensureDefaultProject = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const existing = yield* sql`SELECT id FROM projects WHERE workspace_id = ${workspaceId} AND is_default = 1`
  if (existing.length > 0) return
  yield* sql`INSERT INTO projects ${ProjectRow.values(sql, {
    id: yield* newId(ProjectId, "prj"),
    workspace_id: workspaceId,
    name: "Default",
    slug: "default",
    is_default: 1,
    created_at: at,
    updated_at: at
  })}`
})

/**
 * Creates the owner's membership, in the caller's transaction. An existing membership is not changed, even if it is suspended.
 */
export const ensureOwner = Effect.fnUntraced(function* (workspaceId: WorkspaceId, owner: string) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`INSERT INTO memberships ${MembershipRow.values(sql, {
    id: yield* newId(MembershipId, "mbr"),
    workspace_id: workspaceId,
    subject: owner,
    role: "owner",
    status: "active",
    created_at: at,
    updated_at: at
  })} ON CONFLICT (workspace_id, subject) DO NOTHING`
})

/**
 * Creates a Workspace with its owner and default Project, in the caller's transaction. Fails with `failed_precondition` if the
 * handle is taken or the owner already has a personal Workspace.
 */
export const createWorkspace = Effect.fn("createWorkspace")(function* (workspace: WorkspaceToCreate) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const id = yield* newId(WorkspaceId, "ws")
  const personalOwner = workspace.type === "personal" ? workspace.owner : null
  const taken = yield* StoredWorkspace.some(sql, "handle")`SELECT handle FROM workspaces
    WHERE handle = ${workspace.handle} OR personal_owner = ${personalOwner}`
  if (taken.length > 0) {
    return yield* failedPrecondition(
      taken.some((row) => row.handle === workspace.handle)
        ? "handle: it is taken; choose another one."
        : "type: you have a personal Workspace already."
    )
  }
  yield* sql`INSERT INTO workspaces ${StoredWorkspace.values(sql, {
    id,
    handle: workspace.handle,
    display_name: workspace.displayName,
    type: workspace.type,
    personal_owner: personalOwner,
    archived_at: null,
    created_at: at,
    updated_at: at
  })}`
  yield* ensureOwner(id, workspace.owner)
  yield* ensureDefaultProject(id)
  return id
})

const Missing = Schema.Struct({
  workspaceId: Schema.NullOr(WorkspaceId),
  members: Schema.Int,
  projects: Schema.Int,
  email: Schema.String,
  displayName: Schema.NullOr(Schema.String)
})

/** Returns the missing parts of a person's personal Workspace. The result is empty if the Workspace is complete. */
export const findPersonal = (sql: SqlClient.SqlClient) =>
  SqlSchema.findAll({
    Request: Schema.String,
    Result: Missing,
    execute: (subject) => sql`SELECT w.id AS "workspaceId", u.email, u.display_name AS "displayName",
        (SELECT COUNT(*) FROM memberships m WHERE m.workspace_id = w.id AND m.subject = u.subject) AS members,
        (SELECT COUNT(*) FROM projects p WHERE p.workspace_id = w.id AND p.is_default = 1) AS projects
      FROM users u LEFT JOIN workspaces w ON w.personal_owner = u.subject
      WHERE u.subject = ${subject} AND u.status = 'active'`
  })

export const isWhole = (found: typeof Missing.Type): boolean =>
  found.workspaceId !== null && found.members > 0 && found.projects > 0

/** Returns the requested handle if it is free; otherwise returns it with a few random characters added. */
const freeHandle = Effect.fnUntraced(function* (wanted: string) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const taken = yield* sql`SELECT 1 AS one FROM workspaces WHERE handle = ${wanted}`
  if (taken.length === 0) return wanted
  return `${wanted.slice(0, 30)}-${Buffer.from(yield* random.randomBytes(4)).toString("hex")}`
})

/**
 * Creates or completes the personal Workspace, in the caller's transaction. Returns the Workspace's id if this call created
 * the Workspace.
 */
export const repairPersonal = Effect.fn("repairPersonal")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* findPersonal(sql)(subject)
  if (found === undefined || isWhole(found)) return undefined
  if (found.workspaceId !== null) {
    yield* ensureOwner(found.workspaceId, subject)
    yield* ensureDefaultProject(found.workspaceId)
    return undefined
  }
  const [localPart = ""] = found.email.split("@")
  return yield* createWorkspace({
    handle: yield* freeHandle(handleFrom(localPart)),
    displayName: found.displayName ?? localPart.slice(0, 120),
    type: "personal",
    owner: subject
  })
})
