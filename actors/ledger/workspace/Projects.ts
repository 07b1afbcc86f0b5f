import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { type ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { ProjectId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Project } from "../../../schema/records/Workspace.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { type CursorBinding, Cursors } from "../../base/paging/Cursors.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { ProjectRow } from "./WorkspaceCreation.ts"

/** The error for a change inside an archived Workspace. */
export const archivedWorkspace = () =>
  failedPrecondition('The Workspace is archived. Restore it first with PATCH {"archived": false}.')

/** Fails if the Workspace is archived. Runs in the caller's transaction. */
export const refuseArchived = Effect.fn("refuseArchived")(function* (workspaceId: WorkspaceId) {
  const sql = yield* SqlClient.SqlClient
  const archived = yield* sql`SELECT 1 AS one FROM workspaces WHERE id = ${workspaceId} AND archived_at IS NOT NULL`
  if (archived.length > 0) return yield* archivedWorkspace()
})

const decodeProjects = storedRecord(Schema.Array(Project))

const columns = `id, workspace_id AS "workspaceId", name, slug, created_at AS "createdAt", updated_at AS "updatedAt"`

/** Returns a slug for any name, or `project` if none of the characters can be used. */
const slugFrom = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, 50)
    .replace(/-$/, "") || "project"

/** Projects group the Capsules of a Workspace; every Workspace has a default one. */
export class Projects extends Context.Service<
  Projects,
  {
    /**
     * Creates a Project. Derives the slug from the name if none is given. Fails with `failed_precondition` if the given slug is
     * taken.
     */
    readonly create: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      project: { readonly name: string; readonly slug?: string | undefined }
    ) => Effect.Effect<Project, ApiError>
    readonly read: (projectId: ProjectId) => Effect.Effect<Project, ApiError>
    /** Returns the Project for Capsules that do not specify one. Fails with `not_found` for an unknown Workspace. */
    readonly readDefault: (workspaceId: WorkspaceId) => Effect.Effect<Project, ApiError>
    readonly list: (
      workspaceId: WorkspaceId,
      subject: string,
      page: PageRequest
    ) => Effect.Effect<Page<Project>, ApiError>
  }
>()("svc/actors/ledger/workspace/Projects") {
  static readonly layer = Layer.effect(
    Projects,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const cursors = yield* Cursors
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const select = (client: SqlClient.SqlClient, id: string) =>
        client`SELECT ${client.literal(columns)} FROM projects WHERE id = ${id}`
      const findWith = (client: SqlClient.SqlClient) =>
        SqlSchema.findAll({ Request: ProjectId, Result: Project, execute: (id) => select(client, id) })
      const findCommitted = findWith(read)
      const find = findWith(sql)
      const findDefault = SqlSchema.findAll({
        Request: WorkspaceId,
        Result: Project,
        execute: (workspaceId) =>
          sql`SELECT ${sql.literal(columns)} FROM projects WHERE workspace_id = ${workspaceId} AND is_default = 1`
      })

      const only = (found: ReadonlyArray<Project>) =>
        found[0] === undefined ? Effect.fail(notFound("Project")) : Effect.succeed(found[0])

      const isTaken = (workspaceId: WorkspaceId, slug: string) =>
        Effect.map(
          sql`SELECT 1 AS one FROM projects WHERE workspace_id = ${workspaceId} AND slug = ${slug}`,
          (rows) => rows.length > 0
        )

      const freeSlug = Effect.fnUntraced(function* (workspaceId: WorkspaceId, id: ProjectId, name: string) {
        const slug = slugFrom(name)
        return (yield* isTaken(workspaceId, slug)) ? `${slug}-${id.slice(-8)}` : slug
      })

      const create = Effect.fn("Projects.create")(function* (
        context: CommandContext,
        workspaceId: WorkspaceId,
        project: { readonly name: string; readonly slug?: string | undefined }
      ) {
        yield* refuseArchived(workspaceId).pipe(Effect.provideService(SqlClient.SqlClient, sql))
        const id = yield* newId(ProjectId, "prj").pipe(withRandom)
        if (project.slug !== undefined && (yield* isTaken(workspaceId, project.slug))) {
          return yield* failedPrecondition("slug: another Project of this Workspace has it; choose another one.")
        }
        const at = yield* now
        yield* sql`INSERT INTO projects ${ProjectRow.values(sql, {
          id,
          workspace_id: workspaceId,
          name: project.name,
          slug: project.slug ?? (yield* freeSlug(workspaceId, id, project.name)),
          is_default: 0,
          created_at: at,
          updated_at: at
        })}`
        yield* audit.append({
          workspaceId,
          actor: context.actor,
          action: "project.create",
          target: { kind: "project", id },
          requestId: context.requestId
        })
        return yield* Effect.flatMap(Effect.orDie(find(id)), only)
      }, transaction(sql))

      return Projects.of({
        create,
        read: Effect.fn("Projects.read")((projectId) => Effect.flatMap(Effect.orDie(findCommitted(projectId)), only)),
        readDefault: Effect.fn("Projects.readDefault")(function* (workspaceId) {
          const project = Option.fromUndefinedOr((yield* Effect.orDie(findDefault(workspaceId)))[0])
          return Option.isSome(project) ? project.value : yield* notFound("Workspace")
        }),
        list: Effect.fn("Projects.list")(function* (workspaceId, subject, page) {
          const binding: CursorBinding = { route: "workspaces.projects", subject, filter: [workspaceId] }
          const [at, id] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
          const after = at === undefined || id === undefined ? read`1 = 1` : read`(created_at, id) > (${at}, ${id})`
          const rows = yield* read`SELECT ${read.literal(columns)} FROM projects
            WHERE workspace_id = ${workspaceId} AND ${after} ORDER BY created_at, id LIMIT ${page.limit + 1}`.pipe(
            Effect.map(decodeProjects),
            Effect.orDie
          )
          const items = rows.slice(0, page.limit)
          const last = items.at(-1)
          if (rows.length <= page.limit || last === undefined) return { items }
          return { items, nextCursor: yield* cursors.encode(binding, [last.createdAt, last.id]) }
        })
      })
    })
  )
}
